// The central part of a PagePool: regions, and the free blocks that no thread keeps.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "harena/mem/page_guard.h"
#include "harena/mem/page_pool_options.h"
#include "harena/mem/page_source.h"
#include "harena/mem/region.h"

namespace harena::mem_internal {

inline constexpr size_t kSizeClassesMax = 16;

/// Free blocks of one pool by size class, hottest last, and the regions they were cut from.
/// Thread rule: any thread; one mutex, taken once per batch.
/// Lifetime rule: every block must have come back before the heap is destroyed.
class PageHeap {
 public:
  /// `guard` may be null. Lifetime rule: it outlives the heap.
  PageHeap(const PagePoolOptions& options, PageSourceRef source, PagePool* owner,
           PageGuard* guard) noexcept;
  ~PageHeap();
  PageHeap(const PageHeap&) = delete;
  PageHeap& operator=(const PageHeap&) = delete;

  /// Writes up to `wanted` blocks to `out` and returns how many. It takes resident blocks as long
  /// as there are some and touches new memory for the first one only; 0 means the source has none.
  size_t Take(uint32_t size_class, void** out, size_t wanted) noexcept;

  /// Takes back blocks that were last used at `used_ms`. Beyond the retention bound the longest
  /// unused blocks go to the system at once.
  void Put(uint32_t size_class, void* const* blocks, size_t count, uint64_t used_ms) noexcept;

  /// A block that is not recycled, or nullptr. REQUIRES: `bytes` are whole regions, unless the
  /// source keeps the rest of the last one free.
  void* TakeUnpooled(size_t bytes) noexcept;
  void PutUnpooled(Region* region) noexcept;

  /// Gives back every block last used before `before_ms`, and every region that is free as a whole.
  /// Returns the bytes given back.
  size_t Decay(uint64_t before_ms) noexcept;

  /// What lies free here is resident and charged to nobody. It may not come on top of all that the
  /// budget allows, or a system with little more memory than that kills the process: so after
  /// memory was taken that was not resident before, what has been free for long goes back, and if
  /// that is not enough, all of it. Nothing where the budget has no limit.
  void KeepFreeWithinBudget() noexcept;

  /// The retention bound, which may change at any time; it is held to by the next Put().
  void SetRetainedBytesMax(size_t bytes) noexcept {
    retained_bytes_max_.store(bytes, std::memory_order_relaxed);
  }
  size_t retained_bytes_max() const noexcept {
    return retained_bytes_max_.load(std::memory_order_relaxed);
  }

  /// The heap's share; the rest is zero.
  PagePoolStats stats() const noexcept;

  /// Around fork(): no other thread is inside meanwhile, but blocks that one is just giving to the
  /// system are in no list.
  void LockForFork() noexcept { mutex_.lock(); }
  void UnlockAfterFork() noexcept { mutex_.unlock(); }
  /// In the child: what is outside the heap now may never come back, and is not missed in the end.
  void ForgetWhatIsOutside() noexcept { complete_ = false; }
  /// False where that happened. REQUIRES: no other thread is inside.
  bool complete() const noexcept { return complete_; }

 private:
  struct FreeBlock {
    void* data;
    uint64_t used_ms;
  };
  struct SizeClass {
    std::vector<FreeBlock> resident;  // oldest first
    Region* cold_regions = nullptr;
    size_t block_count = 0;  // cut from all regions of this class; `resident` has room for them
  };
  static constexpr size_t kEvictBatch = 32;

  Region* MapRegion(uint32_t size_class, size_t block_bytes) noexcept;
  void LayOut(Region& region, size_t block_bytes) const noexcept;
  void UnmapRegion(Region* region) noexcept;
  void* TakeCold(SizeClass& size_class) noexcept;
  size_t Evict(uint32_t size_class, uint64_t before_ms, size_t blocks_max) noexcept;
  void MarkCold(void* block) noexcept;
  void Insert(uint32_t size_class, void* const* blocks, size_t count, uint64_t used_ms) noexcept;
  uint32_t OldestClass(uint32_t preferred) const noexcept;
  bool IsWithinBudget() const noexcept;
  void ForgetRegion(Region* region) noexcept;
  void Link(Region* region) noexcept;
  void Unlink(Region* region) noexcept;
  size_t BlockBytes(uint32_t size_class) const noexcept {
    return options_.page_bytes << size_class;
  }

  const PagePoolOptions options_;
  std::atomic<size_t> retained_bytes_max_;
  const PageSourceRef source_;
  PagePool* const owner_;
  PageGuard* const guard_;

  mutable std::mutex mutex_;
  std::array<SizeClass, kSizeClassesMax> classes_;
  PagePoolStats stats_;
  bool complete_ = true;
};

}  // namespace harena::mem_internal
