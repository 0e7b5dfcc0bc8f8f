#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <google/protobuf/arena.h>

#include "harena/base/compiler.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/arena/last_written.h"

namespace harena::pb::codec {

/// There is no more memory to write to. Caught where writing began.
struct OutOfRoom {};

/// Memory that is filled from its end to its beginning. Written backwards, a message is there
/// before its length has to be, so nobody need compute sizes first. (The idea is upb's encoder's.)
///
/// Generated code passes the place written last from function to function, which keeps it in a
/// register, and asks for room before it writes below it.
/// Thread rule: thread-compatible. Units: bytes.
class Writer {
 public:
  /// What may always be written after Room(to, 0): a tag and any number.
  static constexpr size_t kSlackBytes = 32;

  explicit Writer(PagePool& pool) noexcept : pool_(pool) {}
  ~Writer() { Free(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Takes a block of at least `bytes`, for a message on `arena`. Null when there is none; else
  /// what to write below.
  uint8_t* Begin(size_t bytes, const google::protobuf::Arena* arena = nullptr) noexcept;

  PagePool& pool() const noexcept { return pool_; }
  /// That of the message that is being written.
  const google::protobuf::Arena* arena() const noexcept { return arena_; }

  /// `to`, or where it has moved, with room for `bytes` and kSlackBytes below it. Throws OutOfRoom
  /// when memory is refused or the message would be larger than protobuf allows.
  HARENA_INLINE uint8_t* Room(uint8_t* to, size_t bytes) {
    // Signed: `to` may stand in the slack already.
    if (HARENA_LIKELY(to - low_ >= static_cast<ptrdiff_t>(bytes))) return to;
    return Grow(to, bytes);
  }

  /// Bytes from `to` to the end.
  size_t BytesFrom(const uint8_t* to) const noexcept { return static_cast<size_t>(end_ - to); }

  /// Gives the memory back.
  void Free() noexcept;
  /// Hands what was written from `to` on over to the caller, as `message`.
  LastWritten::Owner Release(const uint8_t* to,
                             const google::protobuf::MessageLite& message) noexcept;
  bool has_memory() const noexcept { return block_.data != nullptr; }
  /// How many it has taken from the pool.
  uint64_t blocks() const noexcept { return blocks_; }

  /// A stack of pointers for whoever has to sort entries.
  std::vector<const void*>& entries() noexcept { return entries_; }

 private:
  // For the head of what Release() hands over, and the slack.
  static constexpr size_t kStartBytes = sizeof(Written) + kSlackBytes;

  uint8_t* Use(Block block) noexcept;
  uint8_t* Grow(uint8_t* to, size_t bytes);

  PagePool& pool_;
  const google::protobuf::Arena* arena_ = nullptr;
  uint8_t* low_ = nullptr;  // begin of the block plus kStartBytes
  uint8_t* end_ = nullptr;
  Block block_;
  uint64_t blocks_ = 0;
  std::vector<const void*> entries_;
};

}  // namespace harena::pb::codec
