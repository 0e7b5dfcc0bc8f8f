// Recycled blocks of memory: the pages that scopes, arenas and protobuf messages live on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "harena/mem/internal/page_heap.h"
#include "harena/mem/page_guard.h"
#include "harena/mem/page_pool_options.h"
#include "harena/mem/page_source.h"

namespace harena {

struct QuarantineStats;
namespace mem_internal {
struct ThreadCache;
}  // namespace mem_internal

/// Memory handed out by a pool: `bytes` from `data` on. Empty (`data == nullptr`) when refused.
struct Block {
  void* data = nullptr;
  size_t bytes = 0;
  explicit operator bool() const noexcept { return data != nullptr; }
};

/// A pool of recycled blocks in a few sizes, cut from 2 MiB regions.
///
/// Each thread keeps a bounded number of free blocks; the rest lie in a central list, hottest last.
/// Blocks unused for `decay_after` go back to the system; the pool looks for them while it is used,
/// so no background thread is needed (an idle process needs BackgroundDecay or a call to Decay()).
///
/// Thread rule: every function may be called from any thread at once, and a block may be freed on
///   another thread than it was allocated on.
/// Lifetime rule: every block must be back before the pool is destroyed (checked), and no other
///   thread may be inside the pool then. Default() is never destroyed.
/// Under AddressSanitizer free blocks are poisoned.
///
/// Invariants, for any number of threads that allocate, free on other threads, end, decay and trim
/// (cpp/tests/models/page_pool.pml explores every order of a few of them; cache_lock.pml the memory
/// orders of the caches' lock):
/// - a block is handed out at most once until it is freed, and never while the system takes it
/// back;
/// - none is lost: at any time each block is in use, in one cache, in the central list, or cold;
/// - the central list holds at most `retained_bytes_max` and what calls of Free() are just adding,
///   unless the page source refuses to take memory back;
/// - the budget is never above its limit, and zero once all blocks are in the central list;
/// - nobody waits for ever.
///
/// fork(): the child may go on with the pool, whatever the parent's other threads were doing. What
///   those threads held stays lost to the child, so a pool that it destroys is not checked.
class PagePool {
 public:
  /// Pools that may exist at once in a process.
  static constexpr size_t kPoolsMax = 64;

  /// REQUIRES: `options.Validate()` finds nothing (checked).
  explicit PagePool(const PagePoolOptions& options = {},
                    PageSourceRef source = SystemPageSource::Instance());
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  /// The process's pool, with default options; never destroyed.
  static PagePool& Default();

  /// The pool that `address` belongs to, or nullptr. Wait-free.
  /// Lifetime rule: meaningful while the caller owns the block around `address`.
  static PagePool* OwnerOf(const void* address) noexcept;

  /// A block of at least `bytes_min` bytes (rounded up to a size class), its contents undefined,
  /// aligned to 4096. Empty when the budget or the page source refuses; `*refusal` then says which.
  [[nodiscard]] Block TryAllocate(size_t bytes_min, Refusal* refusal = nullptr) noexcept;

  /// Takes back a block. `bytes` is what was asked for or what was given: both are of one class.
  /// REQUIRES: the block came from this pool and nobody uses it any more. A pointer that is not a
  /// block of this pool, or of another size class, stops the process.
  void Free(void* data, size_t bytes) noexcept;

  /// Says of `blocks` blocks, about to be freed or just freed, that another thread took them: the
  /// pool itself does not look. As cheap as a count of the thread's own. Those of a quarantine are
  /// not counted.
  void CountMoved(uint64_t blocks) noexcept;

  /// The bytes that TryAllocate(bytes_min) would give.
  size_t BlockBytes(size_t bytes_min) const noexcept;

  /// Gives back what was unused for `decay_after`, if it is time for that. Returns bytes given
  /// back.
  size_t Decay() noexcept;

  /// Gives back everything that is free, now. Returns bytes given back. What is in quarantine has
  /// no physical memory to give and stays for its time.
  size_t Trim() noexcept;

  /// The pool's place among the kPoolsMax of the process: context for code that can carry no
  /// pointer (protobuf's block hooks are bare functions).
  uint32_t index() const noexcept { return index_; }
  /// The pool at that place. REQUIRES: it exists and is not being destroyed.
  static PagePool& AtIndex(uint32_t index) noexcept;

  /// Changes how much free memory is kept and for how long. What is beyond it goes back with the
  /// next blocks that come back, or by Decay().
  /// REQUIRES: decay_after is not negative (checked).
  void SetRetention(const PagePoolRetention& retention) noexcept;
  PagePoolRetention retention() const noexcept;

  PagePoolStats stats() const noexcept;
  /// As given when the pool was made; what has changed since is in retention().
  const PagePoolOptions& options() const noexcept { return options_; }
  /// What watches over the pool's blocks; null where nothing does.
  PageGuard* guard() const noexcept { return guard_.get(); }

  // What these were before harena::guard, which defines them, for one release.
  [[deprecated("use harena::guard::HardenedPool()")]] static PagePool& Hardened();
  [[deprecated("use harena::guard::QuarantineOf(pool)")]] PagePool* Quarantine() noexcept;
  [[deprecated("use harena::guard::QuarantineStatsOf(pool)")]] QuarantineStats quarantine_stats()
      const noexcept;

 protected:
  enum class Recycling { kAll, kNone };

  // Where `recycling` is kNone, no block is handed out twice. `source` must then keep whole regions
  // free of others' mappings, and index() is kPoolsMax where there was no place left.
  PagePool(const PagePoolOptions& options, PageSourceRef source, Recycling recycling);

 private:
  friend struct PagePoolPeer;  // tests that overwrite what they must not
  struct ThreadExit;
  struct Fork;

  static void InstallForkSteps() noexcept;
  uint32_t SizeClassOf(size_t bytes) const noexcept;
  uint32_t RecycledClassOf(size_t bytes) const noexcept;
  uint32_t DirectClassOf(size_t bytes) const noexcept;
  Block AllocateRecycled(uint32_t size_class, Refusal* refusal) noexcept;
  Block AllocateOtherwise(size_t bytes_min, Refusal* refusal) noexcept;
  void FreeRecycled(void* data, uint32_t size_class) noexcept;
  void FreeOtherwise(void* data, size_t bytes) noexcept;
  Block AllocateSlow(uint32_t size_class, mem_internal::ThreadCache* locked,
                     Refusal* refusal) noexcept;
  Block AllocateUnpooled(size_t bytes, Refusal* refusal) noexcept;
  bool Charge(size_t bytes, Refusal* refusal) noexcept;
  void Refund(size_t bytes) noexcept;
  size_t Take(uint32_t size_class, void** out, size_t wanted, Refusal* refusal) noexcept;
  void Put(uint32_t size_class, void* const* blocks, size_t count, uint64_t used_ms) noexcept;
  void FreeSlow(void* data, uint32_t size_class, mem_internal::ThreadCache* locked) noexcept;
  mem_internal::ThreadCache* LockCache() noexcept;
  mem_internal::ThreadCache* MakeCache() noexcept;
  void Drain(mem_internal::ThreadCache& cache, uint64_t used_ms) noexcept;
  void SweepCaches(bool all, uint64_t last_ms) noexcept;
  void Abandon(mem_internal::ThreadCache& cache) noexcept;

  const PagePoolOptions options_;
  const uint32_t page_shift_;
  const uint32_t class_count_;
  // The classes that are recycled: all or none.
  const uint32_t recycled_class_count_;
  // Those of them that TryAllocate() and Free() do no more for than handing on, and what blocks of
  // one page are: none of a hardened pool, so that the others pay nothing for its work.
  const uint32_t direct_class_count_;
  const uint32_t page_class_;
  // Claimed when all else is ready: fork() looks into every pool that has one.
  uint32_t index_ = kPoolsMax;
  std::array<uint32_t, mem_internal::kSizeClassesMax> cache_slots_{};  // per thread, by class

  const std::unique_ptr<PageGuard> guard_;
  mem_internal::PageHeap heap_;
  mem_internal::ThreadCache* caches_ = nullptr;  // guarded by the registry's mutex
  std::atomic<uint64_t> last_decay_ms_;
  std::atomic<std::chrono::milliseconds> decay_after_;
  // Counts of what bypassed the thread caches, and of threads that are gone.
  std::atomic<uint64_t> allocated_bytes_{0};
  std::atomic<uint64_t> freed_bytes_{0};
  std::atomic<uint64_t> allocated_blocks_{0};
  std::atomic<uint64_t> freed_blocks_{0};
  std::atomic<uint64_t> moved_blocks_{0};
};

}  // namespace harena
