// Bump allocation on a pool's blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "harena/base/check.h"
#include "harena/base/compiler.h"
#include "harena/base/poison.h"
#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"

namespace harena {

/// What Reset() does with the blocks.
enum class Retain {
  kNothing,     ///< Every block goes back to the pool.
  kFirstBlock,  ///< The first block stays for the next round, the rest goes back. A first block
                ///< that one large allocation made larger than first_block_bytes goes back too.
};

struct ArenaOptions {
  /// Where blocks come from. Lifetime rule: must outlive the arena.
  PagePool* pool = &PagePool::Default();
  /// Charged with every block. May be null. Lifetime rule: must outlive the arena.
  Budget* budget = nullptr;
  /// Bytes of the first block, rounded up to a size class; 0 for one page.
  size_t first_block_bytes = 0;
  /// Blocks double up to this size.
  size_t block_bytes_max = size_t{1} << 20;
};

/// What an arena holds. Counts since its construction or last Reset().
struct ArenaStats {
  size_t bytes_used = 0;       ///< Handed out, alignment gaps included.
  size_t bytes_in_blocks = 0;  ///< Taken from the pool.
  size_t blocks = 0;           ///< Blocks held.
  size_t oversize_blocks = 0;  ///< Of these, blocks that hold a single large allocation.
  size_t cleanups = 0;         ///< Destructors and functions that Reset() will run.
};

/// A bump allocator. One allocation is an addition and a comparison; freeing is Reset() alone.
///
/// Thread rule: thread-compatible: one thread at a time, any thread.
/// Lifetime rule: what it hands out is valid until Reset() or destruction. Neither copied nor
/// moved. Under AddressSanitizer everything not handed out is poisoned, so overflow and use after
/// Reset() are reported.
class Arena {
 public:
  static constexpr size_t kDefaultAlignment = alignof(std::max_align_t);

  explicit Arena(const ArenaOptions& options = {}) noexcept;
  /// An arena that lives inside the block it starts with: the first `skip_bytes` of `first` belong
  /// to the caller, and so does the block itself: the arena neither charges nor frees it.
  Arena(const ArenaOptions& options, Block first, size_t skip_bytes) noexcept;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `bytes` bytes at a multiple of `alignment` (a power of two up to 4096), contents undefined.
  /// Throws BudgetExceeded, which is a std::bad_alloc, when the budget or the system refuses.
  [[nodiscard]] HARENA_INLINE void* Allocate(size_t bytes, size_t alignment = kDefaultAlignment) {
    void* result = Bump(bytes, alignment);
    return HARENA_LIKELY(result != nullptr) ? result : AllocateSlowOrThrow(bytes, alignment);
  }

  /// The same, with nullptr instead of the exception; `*refusal` then says why.
  [[nodiscard]] HARENA_INLINE void* TryAllocate(size_t bytes, size_t alignment = kDefaultAlignment,
                                                Refusal* refusal = nullptr) noexcept {
    void* result = Bump(bytes, alignment);
    return HARENA_LIKELY(result != nullptr) ? result : AllocateSlow(bytes, alignment, refusal);
  }

  /// Constructs a T. Its destructor, unless trivial, runs at Reset(), last made first.
  template <typename T, typename... Args>
  T* Create(Args&&... args) {
    if constexpr (std::is_trivially_destructible_v<T>) {
      return ::new (Allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
    } else {
      // The node first: once the object exists, nothing may fail any more.
      auto* node = static_cast<Cleanup*>(Allocate(sizeof(Cleanup), alignof(Cleanup)));
      T* object = ::new (Allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
      Push(
          node, [](void* target) noexcept { static_cast<T*>(target)->~T(); }, object);
      return object;
    }
  }

  /// `count` value-initialised objects of a trivially destructible type.
  template <typename T>
  std::span<T> CreateArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>,
                  "an arena array runs no destructors; use std::pmr::vector on a resource");
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
    T* first = static_cast<T*>(Allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(first, count);
    return {first, count};
  }

  /// Runs `function(target)` at Reset(), in reverse order of registration. `function` may not
  /// throw.
  void AddCleanup(void (*function)(void*) noexcept, void* target) {
    Push(static_cast<Cleanup*>(Allocate(sizeof(Cleanup), alignof(Cleanup))), function, target);
  }

  /// Runs the cleanups now, as Reset() does first: for who has to know where these end and the
  /// blocks begin to go back. Cleanups may run anything, blocks go back without waiting.
  void RunCleanups() noexcept;

  /// Hands out what is left of the current block but for `keep_bytes`, or an empty span.
  std::span<std::byte> TakeRest(size_t keep_bytes) noexcept;

  /// Ends everything that lives here: runs the cleanups, then takes all memory back. Where the pool
  /// wipes on release, what is kept is wiped too.
  void Reset(Retain retain = Retain::kFirstBlock) noexcept;

  /// Bytes handed out, alignment gaps included.
  size_t bytes_used() const noexcept { return used_before_ + static_cast<size_t>(next_ - begin_); }
  ArenaStats stats() const noexcept;
  const ArenaOptions& options() const noexcept { return options_; }

 private:
  struct Cleanup {
    Cleanup* previous;
    void (*function)(void*) noexcept;
    void* target;
  };
  // Stands at the start of each block that the arena took itself.
  struct Header {
    Header* previous;
    size_t bytes;          // of the block
    size_t charged_bytes;  // to the budget: what of the block may be used
  };
  // ASan's shadow knows one byte per eight.
  static constexpr size_t kAlignmentMin = HARENA_ASAN ? 8 : 1;

  HARENA_INLINE void* Bump(size_t bytes, size_t alignment) noexcept {
    HARENA_DCHECK(alignment != 0 && (alignment & (alignment - 1)) == 0,
                  "Arena: an alignment must be a power of two up to 4096");
    const size_t mask = (alignment > kAlignmentMin ? alignment : kAlignmentMin) - 1;
    const uintptr_t start = (next_ + mask) & ~static_cast<uintptr_t>(mask);
    // Without a block next_ and limit_ are 0: then zero bytes give a null result, any more fail.
    if (HARENA_UNLIKELY(start > limit_ || bytes + kRedzoneBytes > limit_ - start ||
                        (kRedzoneBytes != 0 && bytes > kAllocationBytesMax))) {
      return nullptr;
    }
    next_ = start + bytes + kRedzoneBytes;
    void* result = reinterpret_cast<void*>(start);
    Unpoison(result, bytes);
    return result;
  }

  static constexpr size_t kAllocationBytesMax = SIZE_MAX / 4;

  void* AllocateSlow(size_t bytes, size_t alignment, Refusal* refusal) noexcept;
  void* AllocateSlowOrThrow(size_t bytes, size_t alignment);
  Header* TakeBlock(size_t needed_bytes, Refusal* refusal) noexcept;
  Header* TakeBlock(size_t block_bytes, size_t charged_bytes, size_t slack_bytes,
                    Refusal* refusal) noexcept;
  void FreeBlock(Header* header) noexcept;
  size_t FirstBlockBytes() const noexcept;
  size_t NextAfter(size_t block_bytes) const noexcept;
  void Push(Cleanup* node, void (*function)(void*) noexcept, void* target) noexcept {
    *node = {cleanups_, function, target};
    cleanups_ = node;
    ++cleanup_count_;
  }

  // First what the fast path touches.
  uintptr_t next_ = 0;
  uintptr_t limit_ = 0;
  uintptr_t begin_ = 0;
  size_t used_before_ = 0;  // handed out from blocks before the current one
  Cleanup* cleanups_ = nullptr;
  Header* blocks_ = nullptr;  // those it took itself, newest first
  size_t next_block_bytes_ = 0;
  size_t bytes_in_blocks_ = 0;
  size_t block_count_ = 0;
  size_t oversize_count_ = 0;
  size_t cleanup_count_ = 0;
  ArenaOptions options_;
  Block given_;  // the caller's first block, if any
  size_t given_skip_bytes_ = 0;
};

}  // namespace harena
