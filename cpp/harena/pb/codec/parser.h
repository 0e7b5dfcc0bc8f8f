#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <google/protobuf/arena.h>
#include <google/protobuf/arenastring.h>

#include "harena/base/compiler.h"
#include "harena/base/poison.h"
#include "harena/pb/arena/string_slabs.h"
#include "harena/pb/codec/access.h"
#include "harena/pb/codec/high_bits.h"
#include "harena/pb/codec/scratch.h"
#include "harena/pb/layout/names.h"
#include "harena/pb/layout/raw_string.h"
#include "harena/scope/outside_charge.h"

#if HARENA_CODEC
namespace google::protobuf {
class Descriptor;
}

namespace harena::pb::codec {

/// Zeros that stand behind the bytes to parse. A number may be read past the end of its message
/// before anybody looks where it ended.
inline constexpr size_t kWireSlackBytes = 64;

/// What one parse works with: where it puts what it reads, what it may still take, and what it has
/// found out about its input.
///
/// Frozen: the result will only be read. Its strings point into the wire, which is the scope's own
/// and is kept; messages and arrays stand in chunks of the scope's protobuf arena: no malloc, no
/// destructor. Open: whoever owns the message may change it, so it is built as protobuf would have
/// built it, out of ordinary strings.
///
/// Thread rule: the scope's thread. Lifetime rule: ends before its scope.
class Parser {
 public:
  enum class Result : bool { kOpen, kFrozen };

  struct Options {
    Result result = Result::kOpen;
    /// Where chunks of frozen messages and temporary memory come from.
    PagePool* pool;
    /// What counts memory that the arena does not count; null where nobody does.
    OutsideCharge* outside = nullptr;
    /// Makes the strings of open messages; null: protobuf does.
    StringSlabs* strings = nullptr;
    /// Levels of messages below the one that is parsed.
    int levels_below_max;
  };

  Parser(google::protobuf::Arena& arena, const Options& options) noexcept
      : arena_(&arena),
        pool_(*options.pool),
        outside_(options.outside),
        strings_(options.strings),
        frozen_(options.result == Result::kFrozen),
        levels_left_(options.levels_below_max),
        pending_memory_(pool_, budget()) {}
  ~Parser() { *terminator_ = '\0'; }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  google::protobuf::Arena* arena() const noexcept { return arena_; }
  bool frozen() const noexcept { return frozen_; }
  StringSlabs* strings() const noexcept { return strings_; }

  /// Room in the scope for a wire that strings will point into, and for what belongs to it; the
  /// slack comes beside. REQUIRES: frozen, and nothing was parsed yet. Throws what the arena's
  /// block hook throws.
  char* KeepWire(size_t bytes);
  /// What IsAscii() looks at.
  void SetWire(const char* wire, const HighBits& high_bits) noexcept {
    wire_ = wire;
    high_bits_ = high_bits;
  }

  /// The request's; null where nobody counts.
  Budget* budget() const noexcept { return outside_ == nullptr ? nullptr : &outside_->budget(); }
  /// Counts `bytes` of the heap, before they are there. Throws BudgetExceeded.
  HARENA_INLINE void Charge(size_t bytes) {
    if (HARENA_UNLIKELY(bytes > prepaid_bytes_)) Prepay(bytes);
    prepaid_bytes_ -= bytes;
  }
  /// Counts what protobuf's own parser may take for a message of that type (null: of the lite
  /// runtime). Throws BudgetExceeded.
  void ChargeForProtobuf(const google::protobuf::Descriptor* type, std::string_view wire);

  /// Memory of the scope's arena, aligned to 8: bumps within a chunk, because a call of the arena
  /// for each string would cost more than the string. REQUIRES: frozen. Throws what the arena's
  /// block hook throws.
  HARENA_INLINE void* Allocate(size_t bytes) {
    const size_t taken = ((bytes + 7) & ~size_t{7}) + kRedzoneBytes;
    if (HARENA_UNLIKELY(taken > Room())) return AllocateSlow(bytes, taken);
    char* const place = next_;
    next_ += taken;
    Unpoison(place, bytes);
    return place;
  }
  /// The same for what turns out to be smaller than it might have been: memory for `bytes_max`, of
  /// which KeepUpTo() says what was used. Nothing else is allocated in between.
  HARENA_INLINE void* AllocateForAWhile(size_t bytes_max) {
    const size_t bytes_wanted = ((bytes_max + 7) & ~size_t{7}) + kRedzoneBytes;
    if (HARENA_UNLIKELY(bytes_wanted > Room())) NewChunk(bytes_wanted);
    Unpoison(next_, bytes_max);
    return next_;
  }
  HARENA_INLINE void KeepUpTo(const void* end) noexcept {
    char* const next = next_ + ((static_cast<const char*>(end) - next_ + 7) & ~ptrdiff_t{7});
    Poison(next, static_cast<size_t>(limit_ - next));
    next_ = next + kRedzoneBytes;
  }
  /// Whether so much may be taken although most of it will go back: not more than a chunk.
  bool IsLittle(size_t bytes) const noexcept {
    return bytes <= kChunkBytesMax - kRedzoneBytes - 7 || bytes + 7 <= Room();
  }

  /// A message of the tree that is being parsed.
  template <typename T>
  HARENA_INLINE T* NewMessage() {
    if constexpr (HasCodec<T>) {
      if (HARENA_LIKELY(frozen_)) {
        static_assert(alignof(T) <= 8);
        return Access::New<T>(Allocate(sizeof(T)), arena_);
      }
    }
    return CreateOn<T>(*arena_);
  }

  /// A string whose bytes are those of the wire. REQUIRES: frozen.
  HARENA_INLINE std::string* NewRawString(const char* text, size_t size) {
    void* const place = Allocate(sizeof(layout::RawString));
    PointInto(place, text, size);
    return static_cast<std::string*>(place);
  }
  /// The same at `place`.
  HARENA_INLINE void PointInto(void* place, const char* text, size_t size) noexcept {
    auto* const raw = static_cast<layout::RawString*>(place);
    raw->data = const_cast<char*>(text);
    raw->length = size;
    raw->capacity = size;
    // The zero behind the string stands where the next tag is, so it is written when the next
    // string has been read.
    *terminator_ = '\0';
    terminator_ = raw->data + size;
  }
  /// Makes such a string the value of `field`.
  static void SetRawString(google::protobuf::internal::ArenaStringPtr& field, std::string* raw) {
    google::protobuf::internal::TaggedStringPtr tagged;
    tagged.SetFixedSizeArena(raw);
    field.UnsafeSetTaggedPointer(tagged);
  }
  /// Whether a text of the wire is all ASCII. REQUIRES: frozen, and the wire was looked at.
  HARENA_INLINE bool IsAscii(const char* text, size_t size) const noexcept {
    return !high_bits_.Any(static_cast<size_t>(text - wire_), size);
  }

  /// Elements of a repeated field that have no place yet: a stack, which messages within messages
  /// go on with. Push() throws BudgetExceeded.
  HARENA_INLINE void Push(void* element) {
    if (HARENA_UNLIKELY(pending_count_ == pending_max_)) GrowPending();
    pending_[pending_count_++] = element;
  }
  size_t pending_count() const noexcept { return pending_count_; }
  void** pending() noexcept { return pending_; }
  void DropPendingFrom(size_t count) noexcept { pending_count_ = count; }

  /// Enters a level of messages. False when the wire nests deeper than it may.
  HARENA_INLINE bool Enter() noexcept {
    if (HARENA_LIKELY(levels_left_ > 0)) {
      --levels_left_;
      return true;
    }
    too_deep_ = true;
    return false;
  }
  HARENA_INLINE void Leave() noexcept { ++levels_left_; }
  int levels_left() const noexcept { return levels_left_; }
  bool too_deep() const noexcept { return too_deep_; }
  /// protobuf could not parse a message of that type: looks whether it nests too deep.
  void ExplainForProtobuf(const google::protobuf::Descriptor* type, std::string_view wire);

  /// The message that is being parsed ended by `tag`, which stands before `ptr`: a group's end, or
  /// 0. False, for parsers to return.
  bool EndBy(uint32_t tag, const char* ptr) noexcept {
    end_tag_ = tag;
    ended_at_ = ptr;
    return false;
  }
  /// Where the message that was just parsed ended by a tag, which is then `*tag`; null when its
  /// parse failed for another reason.
  const char* TakeEnd(uint32_t* tag) noexcept {
    *tag = end_tag_;
    const char* const at = ended_at_;
    ended_at_ = nullptr;
    return at;
  }
  /// A message with a length did not end where it had to. Null, for parsers to return.
  const char* Fail() noexcept {
    ended_at_ = nullptr;
    return nullptr;
  }

  /// Something may lack a required field: only a look at the whole message can tell.
  void DoubtRequired() noexcept { required_in_doubt_ = true; }
  bool required_in_doubt() const noexcept { return required_in_doubt_; }

 private:
  // Half of the usual page, less what protobuf's arena puts in front.
  static constexpr size_t kArenaHeadBytes = 64;
  static constexpr size_t kChunkBytesMax = (size_t{32} << 10) - kArenaHeadBytes;

  size_t Room() const noexcept { return static_cast<size_t>(limit_ - next_); }
  void* AllocateSlow(size_t bytes, size_t taken);
  void NewChunk(size_t bytes_min);
  void GrowPending();
  void Prepay(size_t bytes);

  google::protobuf::Arena* const arena_;
  PagePool& pool_;
  OutsideCharge* const outside_;
  StringSlabs* const strings_;
  const bool frozen_;
  bool too_deep_ = false;
  bool required_in_doubt_ = false;
  int levels_left_;

  char* next_ = nullptr;
  char* limit_ = nullptr;
  size_t chunk_bytes_ = 0;

  const char* wire_ = nullptr;
  HighBits high_bits_;
  char no_terminator_ = '\0';
  char* terminator_ = &no_terminator_;

  // Budgets are asked in steps, for more than is needed now.
  size_t prepaid_bytes_ = 0;
  size_t prepay_step_bytes_ = 128;
  size_t counted_at_most_bytes_ = 0;  // of what protobuf parses

  void** pending_ = nullptr;
  size_t pending_count_ = 0;
  size_t pending_max_ = 0;
  Scratch pending_memory_;

  uint32_t end_tag_ = 0;
  const char* ended_at_ = nullptr;
};

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
