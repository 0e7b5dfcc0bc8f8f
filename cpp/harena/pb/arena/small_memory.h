#pragma once

#include <cstddef>

#include <google/protobuf/arena.h>

#include "harena/base/compiler.h"
#include "harena/base/poison.h"

namespace harena::pb {

/// Memory of a scope's protobuf arena for what is built by hand: small messages and arrays, one
/// behind the other. A call of the arena for each would cost more than they do; and the newest
/// array grows where it stands.
///
/// Thread rule: it serves the thread that made it; on any other the answer is null and the caller
/// goes protobuf's way. Lifetime rule: its memory ends when the arena is reset or ends, which must
/// be while it stands.
class SmallMemory {
 public:
  /// What is larger is the arena's own business.
  static constexpr size_t kBytesMax = 512;

  explicit SmallMemory(google::protobuf::Arena& arena) noexcept
      : arena_(arena), thread_(&thread_mark_) {}
  SmallMemory(const SmallMemory&) = delete;
  SmallMemory& operator=(const SmallMemory&) = delete;

  bool IsHere() const noexcept { return thread_ == &thread_mark_; }

  /// Memory aligned to 8, or null. Throws what the arena's block hook throws.
  HARENA_INLINE void* TryAllocate(size_t bytes) {
    if (HARENA_UNLIKELY(!IsHere() || bytes > kBytesMax)) return nullptr;
    const size_t taken = TakenFor(bytes);
    if (HARENA_UNLIKELY(taken > static_cast<size_t>(limit_ - next_))) Refill();
    char* const place = next_;
    next_ += taken;
    Unpoison(place, bytes);
    return place;
  }

  /// Whether `place`, which has `bytes`, has `bytes_wanted` now.
  HARENA_INLINE bool TryExtend(void* place, size_t bytes, size_t bytes_wanted) noexcept {
    if (!IsHere() || static_cast<char*>(place) + TakenFor(bytes) != next_) return false;
    const size_t more = TakenFor(bytes_wanted) - TakenFor(bytes);
    if (more > static_cast<size_t>(limit_ - next_)) return false;
    next_ += more;
    Unpoison(place, bytes_wanted);
    return true;
  }

 private:
  static constexpr size_t TakenFor(size_t bytes) noexcept {
    return ((bytes + 7) & ~size_t{7}) + kRedzoneBytes;
  }
  void Refill();

  // Its address tells one live thread from another.
  static thread_local constinit inline char thread_mark_ = 0;

  google::protobuf::Arena& arena_;
  const void* const thread_;
  char* next_ = nullptr;
  char* limit_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace harena::pb
