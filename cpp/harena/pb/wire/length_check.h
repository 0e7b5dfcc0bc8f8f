// Whether the messages in an input are as long as they say, where protobuf's own code reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <google/protobuf/parse_context.h>

#include "harena/pb/layout/support.h"
#include "harena/pb/wire/length_tags.h"
#include "harena/pb/wire/outline.h"

#if HARENA_CODEC
namespace harena::pb::wire {

/// Protobuf believes a message that says it is longer than all that follows, and then reserves up
/// to 50 MB for a string in it that says so too, before it looks whether the bytes are there. To
/// know what is a length means to read the wire. So the input is only looked through for bytes that
/// would be such a length if they were one, which honest input hardly has outside of long strings.
/// Where there are some, an outline of the fields is followed to see whether they stand in a
/// string; if not, or if that is not known, the input is cut behind them: when the parser comes for
/// the next piece, it stands at the first field of that message if it is one, and its own limit
/// tells.
///
/// Thread rule: one thread. Lifetime rule: the tags and the context must outlive it.
class LengthCheck {
 public:
  using Context = google::protobuf::internal::ParseContext;

  /// Zeros that the input goes on with behind its end, where the parser asks: lengths in the last
  /// bytes are looked at as well.
  static constexpr size_t kPadBytes = Context::kSlopBytes;
  /// What a message may say to be longer than the input without being noticed: lengths of one byte
  /// are not looked at.
  static constexpr size_t kUnnoticedBytes = 0x7f;
  /// The same for who holds so much beside what the input itself may take: a parse that believes
  /// one such length ends with it. Lengths of two bytes are not looked at then, with the second not
  /// those of three, of which honest input has hardly any, numbers and hashes included.
  static constexpr size_t kHeldBytes = 0x3fff;
  static constexpr size_t kMuchHeldBytes = 0x1fffff;

  /// `wire_bytes` of input; without tags, it is cut nowhere. REQUIRES: `unnoticed_bytes` is one of
  /// these.
  LengthCheck(const LengthTags* tags, size_t wire_bytes, size_t unnoticed_bytes) noexcept
      : tags_(tags == nullptr || tags->empty() ? nullptr : tags),
        wire_bytes_(wire_bytes),
        unnoticed_bytes_(unnoticed_bytes),
        outline_(tags_ == nullptr ? nullptr : tags_->shape(), wire_bytes) {}

  /// From now on the input is `context`'s, which has got the first piece. Whether it must get the
  /// zeros too: not when all of the input was looked through already and has nothing to be cut at.
  /// REQUIRES: its limit is the input's length.
  bool Watch(Context& context) noexcept;

  /// To be asked when the parser comes for the bytes at `at`: whether none of the messages that it
  /// stands in is longer than there is input. If not, it must get no more, and reads no more of
  /// what it has.
  bool Holds(size_t at) noexcept;
  bool lied() const noexcept { return lied_; }

  /// How many of the `size` bytes at `data`, which is position `at`, may be let through before
  /// Holds() is asked again. REQUIRES: `size` is all that is left of a chunk, and its beginning can
  /// still be read.
  size_t Piece(const char* data, size_t size, size_t at) noexcept;
  /// The bytes from `at` on will come again. REQUIRES: they are of the last chunk.
  void BackUp(size_t at) noexcept;

 private:
  void BeginChunk(const char* data, size_t size, size_t at) noexcept;
  void LookAtSeam(const char* data, size_t size, size_t at, size_t tags_here) noexcept;
  void Carry(const char* data, size_t size) noexcept;
  void FollowFar(const Outline::Chunk& chunk) noexcept;
  void FindNext(const char* data, size_t at) noexcept;
  size_t LengthEnd(const char* tag_end, const char* end, size_t at) const noexcept;
  void FindAny(const Outline::Chunk& chunk, const char* next) noexcept;
  template <int kBytesMin>
  void FindLong(const Outline::Chunk& chunk, const char* next) noexcept;
  bool Suspect(const Outline::Chunk& chunk, const char* tag_end) noexcept;
  bool MayCutAt(size_t at) noexcept;
  void Push(size_t cut) noexcept;

  const LengthTags* const tags_;
  const size_t wire_bytes_;
  const size_t unnoticed_bytes_;
  Context* context_ = nullptr;
  bool lied_ = false;

  Outline outline_;
  size_t fields_left_ = 8;  // that may be followed although nothing looks like a lie
  size_t false_alarms_ = 0;
  size_t cuts_made_ = 0;  // without following
  size_t chunk_begin_ = 0;
  size_t chunk_end_ = 0;
  size_t scanned_ = 0;  // of tags that end before it, all is known that the chunk tells
  // The last bytes before the chunk.
  std::array<char, kTagBytesMax + kLengthBytesMax> carried_;
  size_t carried_bytes_ = 0;
  const char* last_chunk_ = nullptr;
  // Where to cut, in order. A length is two bytes at least and stands behind a tag, so no more than
  // these are found in the 16 bytes before the first of them and in the seam of two chunks.
  std::array<size_t, 32> cuts_;
  size_t first_ = 0;
  size_t count_ = 0;
};

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
