#include "harena/mem/page_pool.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <thread>

#include "harena/base/check.h"
#include "harena/base/poison.h"
#include "harena/mem/internal/thread_cache.h"

namespace harena {

// Null where harena::guard is not linked.
[[gnu::weak]] std::unique_ptr<PageGuard> MakePageGuard(const PagePoolOptions& options,
                                                       const PagePool* pool);

using mem_internal::TheRegistry;
using mem_internal::ThreadCache;

namespace {

thread_local constinit std::array<ThreadCache*, PagePool::kPoolsMax> thread_caches{};
thread_local constinit bool thread_is_ending = false;

constexpr char kNotOurs[] =
    "PagePool::Free: this address is not a block of this pool; give it back to the pool it came "
    "from, once";
constexpr char kNotABlock[] =
    "PagePool::Free: not the start of a block of that size; free what was allocated, with the size "
    "it was allocated with";

// kPoolsMax when every place is taken, which only a pool that recycles nothing may be told.
uint32_t ClaimIndex(PagePool* pool, bool must) noexcept {
  std::lock_guard lock(TheRegistry().mutex);
  auto& pools = TheRegistry().pools;
  const auto free = std::find_if(pools.begin(), pools.end(),
                                 [](const auto& place) { return place.load() == nullptr; });
  HARENA_CHECK(free != pools.end() || !must,
               "more than 64 page pools at once; share pools between methods instead");
  if (free != pools.end()) free->store(pool);
  return static_cast<uint32_t>(free - pools.begin());
}

std::unique_ptr<PageGuard> GuardFor(const PagePoolOptions& options, const PagePool* pool) {
  if (&MakePageGuard != nullptr) return MakePageGuard(options, pool);
  HARENA_CHECK(!options.hardened(),
               "guard_pages, wipe_on_release and check_free_lists need the library harena::guard; "
               "link it, and include harena/guard/hardening.h");
  return nullptr;
}

const PagePoolOptions& Valid(const PagePoolOptions& options) {
  if (const auto problem = options.Validate())
    FailCheck("PagePool", 0, "Validate", problem->c_str());
  return options;
}

}  // namespace

// Returns a thread's blocks when the thread ends.
struct PagePool::ThreadExit {
  ~ThreadExit() {
    thread_is_ending = true;
    std::lock_guard lock(TheRegistry().mutex);
    for (ThreadCache*& cache : thread_caches) {
      if (cache == nullptr) continue;
      if (PagePool* pool = cache->pool.load()) pool->Abandon(*cache);
      delete cache;
      cache = nullptr;
    }
  }
};

PagePool::PagePool(const PagePoolOptions& options, PageSourceRef source)
    : PagePool(options, source, Recycling::kAll) {}

PagePool::PagePool(const PagePoolOptions& options, PageSourceRef source, Recycling recycling)
    : options_(Valid(options)),
      page_shift_(static_cast<uint32_t>(std::countr_zero(options.page_bytes))),
      class_count_(static_cast<uint32_t>(
          std::countr_zero(options.block_bytes_max / options.page_bytes) + 1)),
      recycled_class_count_(recycling == Recycling::kAll ? class_count_ : 0),
      direct_class_count_(options.hardened() ? 0 : recycled_class_count_),
      page_class_(direct_class_count_ != 0 ? 0 : kUnpooledClass),
      guard_(GuardFor(options, this)),
      heap_(options, source, this, options.hardened() ? guard_.get() : nullptr),
      last_decay_ms_(options.now_ms()),
      decay_after_(options.decay_after) {
  InstallForkSteps();
  for (uint32_t i = 0; i < class_count_; ++i) {
    cache_slots_[i] = static_cast<uint32_t>(
        std::min<size_t>(ThreadCache::kSlots, options.thread_cache_bytes_max >> (page_shift_ + i)));
  }
  index_ = ClaimIndex(this, /*must=*/recycling == Recycling::kAll);
}

PagePool::~PagePool() {
  std::lock_guard lock(TheRegistry().mutex);
  while (caches_ != nullptr) {
    ThreadCache& cache = *caches_;
    Abandon(cache);
    cache.pool.store(nullptr);
  }
  if (index_ < kPoolsMax) TheRegistry().pools[index_].store(nullptr);
  HARENA_CHECK(allocated_bytes_.load() == freed_bytes_.load() || !heap_.complete(),
               "a page pool is destroyed while blocks of it are in use; "
               "end every scope, arena and message on it first");
}

PagePool& PagePool::Default() {
  static auto* pool = new PagePool;
  return *pool;
}

PagePool& PagePool::AtIndex(uint32_t index) noexcept {
  PagePool* pool = TheRegistry().pools[index].load(std::memory_order_acquire);
  HARENA_DCHECK(pool != nullptr, "PagePool::AtIndex: no pool has this index");
  return *pool;
}

PagePool* PagePool::OwnerOf(const void* address) noexcept {
  const Region* region = FindRegion(address);
  return region == nullptr ? nullptr : region->pool;
}

// Of the sizes, recycled or not.
uint32_t PagePool::SizeClassOf(size_t bytes) const noexcept {
  if (bytes <= options_.page_bytes) return 0;
  return static_cast<uint32_t>(std::bit_width((bytes - 1) >> page_shift_));
}

uint32_t PagePool::RecycledClassOf(size_t bytes) const noexcept {
  const uint32_t size_class = SizeClassOf(bytes);
  return size_class < recycled_class_count_ ? size_class : kUnpooledClass;
}

// kUnpooledClass also for what is recycled, but not directly.
HARENA_INLINE uint32_t PagePool::DirectClassOf(size_t bytes) const noexcept {
  if (bytes <= options_.page_bytes) return page_class_;
  const uint32_t size_class = SizeClassOf(bytes);
  return size_class < direct_class_count_ ? size_class : kUnpooledClass;
}

size_t PagePool::BlockBytes(size_t bytes_min) const noexcept {
  const uint32_t size_class = SizeClassOf(bytes_min);
  if (size_class < class_count_) return options_.page_bytes << size_class;
  return (bytes_min + kRegionBytes - 1) & ~(kRegionBytes - 1);
}

Block PagePool::TryAllocate(size_t bytes_min, Refusal* refusal) noexcept {
  const uint32_t size_class = DirectClassOf(bytes_min);
  if (HARENA_UNLIKELY(size_class == kUnpooledClass)) return AllocateOtherwise(bytes_min, refusal);
  return AllocateRecycled(size_class, refusal);
}

HARENA_INLINE Block PagePool::AllocateRecycled(uint32_t size_class, Refusal* refusal) noexcept {
  ThreadCache* cache = LockCache();
  if (HARENA_LIKELY(cache != nullptr)) {
    ThreadCache::Stack& stack = cache->stacks[size_class];
    if (HARENA_LIKELY(stack.count != 0)) {
      const Block block{stack.blocks[--stack.count], options_.page_bytes << size_class};
      cache->cached_bytes -= block.bytes;
      cache->allocated_bytes += block.bytes;
      ++cache->allocated_blocks;
      cache->Unlock();
      Unpoison(block.data, block.bytes);
      return block;
    }
  }
  return AllocateSlow(size_class, cache, refusal);
}

void PagePool::Free(void* data, size_t bytes) noexcept {
  const uint32_t size_class = DirectClassOf(bytes);
  if (HARENA_UNLIKELY(size_class == kUnpooledClass)) return FreeOtherwise(data, bytes);
  // Blocks of this class are recycled directly, so that none is guarded.
  const Region* region = FindRegion(data);
  HARENA_CHECK(region != nullptr && region->pool == this, kNotOurs);
  const size_t offset = static_cast<size_t>(static_cast<char*>(data) - region->base);
  HARENA_CHECK(
      region->size_class == size_class && (offset & ((options_.page_bytes << size_class) - 1)) == 0,
      kNotABlock);
  FreeRecycled(data, size_class);
}

void PagePool::CountMoved(uint64_t blocks) noexcept {
  // A pool that recycles nothing has no caches, and maybe no index.
  ThreadCache* const cache = recycled_class_count_ != 0 ? thread_caches[index_] : nullptr;
  if (HARENA_UNLIKELY(cache == nullptr || cache->pool.load(std::memory_order_relaxed) != this)) {
    moved_blocks_.fetch_add(blocks, std::memory_order_relaxed);
    return;
  }
  std::atomic<uint64_t>& moved = cache->moved_blocks;
  moved.store(moved.load(std::memory_order_relaxed) + blocks, std::memory_order_relaxed);
}

HARENA_INLINE void PagePool::FreeRecycled(void* data, uint32_t size_class) noexcept {
  const size_t block_bytes = options_.page_bytes << size_class;
  // What AddressSanitizer knows anyway.
  HARENA_CHECK(!IsPoisoned(data), kGivenBackTwice);
  Poison(data, block_bytes);
  ThreadCache* cache = LockCache();
  if (HARENA_LIKELY(cache != nullptr)) {
    ThreadCache::Stack& stack = cache->stacks[size_class];
    cache->freed_bytes += block_bytes;
    ++cache->freed_blocks;
    if (HARENA_LIKELY(stack.count < cache_slots_[size_class] &&
                      cache->cached_bytes + block_bytes <= options_.thread_cache_bytes_max)) {
      stack.blocks[stack.count++] = data;
      cache->cached_bytes += block_bytes;
      const uint32_t operations = cache->operations.load(std::memory_order_relaxed) + 1;
      cache->operations.store(operations, std::memory_order_relaxed);
      cache->Unlock();
      if (HARENA_UNLIKELY(operations % ThreadCache::kOperationsPerTick == 0)) Decay();
      return;
    }
  }
  FreeSlow(data, size_class, cache);
}

// Blocks that are not recycled, and those of hardened pools.
HARENA_NOINLINE Block PagePool::AllocateOtherwise(size_t bytes_min, Refusal* refusal) noexcept {
  const uint32_t size_class = RecycledClassOf(bytes_min);
  if (size_class == kUnpooledClass) return AllocateUnpooled(bytes_min, refusal);
  const Block block = AllocateRecycled(size_class, refusal);
  if (block) guard_->HandedOut(block.data, size_class);
  return block;
}

HARENA_NOINLINE void PagePool::FreeOtherwise(void* data, size_t bytes) noexcept {
  Region* const region = FindRegion(data);
  HARENA_CHECK(region != nullptr && region->pool == this, kNotOurs);
  const uint32_t size_class = RecycledClassOf(bytes);
  HARENA_CHECK(region->size_class == size_class && region->IsBlock(data), kNotABlock);
  if (size_class == kUnpooledClass) {
    // Nothing to wipe: the memory goes back to the system.
    const size_t block_bytes = region->block_bytes;
    freed_bytes_.fetch_add(block_bytes, std::memory_order_relaxed);
    freed_blocks_.fetch_add(1, std::memory_order_relaxed);
    heap_.PutUnpooled(region);
    return Refund(block_bytes);
  }
  guard_->Returned(data, *region);
  FreeRecycled(data, size_class);
}

// The calling thread's cache of this pool, locked; nullptr when it has none or it is being emptied.
HARENA_INLINE ThreadCache* PagePool::LockCache() noexcept {
  ThreadCache* cache = thread_caches[index_];
  if (HARENA_UNLIKELY(cache == nullptr || cache->pool.load(std::memory_order_relaxed) != this)) {
    cache = MakeCache();
    if (cache == nullptr) return nullptr;
  }
  return cache->TryLock() ? cache : nullptr;
}

HARENA_NOINLINE ThreadCache* PagePool::MakeCache() noexcept {
  if (thread_is_ending || options_.thread_cache_bytes_max == 0) return nullptr;
  thread_local ThreadExit exit;
  static_cast<void>(exit);
  std::lock_guard lock(TheRegistry().mutex);
  ThreadCache*& cache = thread_caches[index_];
  if (cache == nullptr) cache = new (std::nothrow) ThreadCache;
  if (cache == nullptr) return nullptr;
  // It may have served a pool that is gone.
  cache->allocated_bytes = cache->freed_bytes = 0;
  cache->allocated_blocks = cache->freed_blocks = 0;
  cache->moved_blocks.store(0, std::memory_order_relaxed);
  cache->next = caches_;
  caches_ = cache;
  cache->pool.store(this);
  return cache;
}

// Takes everything out of `cache` and forgets it. REQUIRES: the registry's mutex is held.
void PagePool::Abandon(ThreadCache& cache) noexcept {
  while (!cache.TryLock()) std::this_thread::yield();
  Drain(cache, options_.now_ms());
  allocated_bytes_.fetch_add(cache.allocated_bytes);
  freed_bytes_.fetch_add(cache.freed_bytes);
  allocated_blocks_.fetch_add(cache.allocated_blocks);
  freed_blocks_.fetch_add(cache.freed_blocks);
  moved_blocks_.fetch_add(cache.moved_blocks.load(std::memory_order_relaxed));
  cache.Unlock();
  ThreadCache** link = &caches_;
  while (*link != &cache) link = &(*link)->next;
  *link = cache.next;
}

// REQUIRES: `cache` is locked.
void PagePool::Drain(ThreadCache& cache, uint64_t used_ms) noexcept {
  for (uint32_t i = 0; i < class_count_; ++i) {
    ThreadCache::Stack& stack = cache.stacks[i];
    if (stack.count != 0) Put(i, stack.blocks.data(), stack.count, used_ms);
    stack.count = 0;
  }
  cache.cached_bytes = 0;
}

bool PagePool::Charge(size_t bytes, Refusal* refusal) noexcept {
  return options_.budget == nullptr || options_.budget->TryCharge(bytes, 0, refusal);
}

void PagePool::Refund(size_t bytes) noexcept {
  if (options_.budget != nullptr) options_.budget->Refund(bytes);
}

// Blocks from the heap, charged to the budget.
size_t PagePool::Take(uint32_t size_class, void** out, size_t wanted, Refusal* refusal) noexcept {
  const size_t block_bytes = options_.page_bytes << size_class;
  if (!Charge(wanted * block_bytes, refusal)) {
    wanted = 1;
    if (!Charge(block_bytes, refusal)) return 0;
  }
  const size_t taken = heap_.Take(size_class, out, wanted);
  Refund((wanted - taken) * block_bytes);
  if (taken == 0) *refusal = {.bytes_wanted = block_bytes};
  heap_.KeepFreeWithinBudget();
  return taken;
}

void PagePool::Put(uint32_t size_class, void* const* blocks, size_t count,
                   uint64_t used_ms) noexcept {
  heap_.Put(size_class, blocks, count, used_ms);
  Refund(count * (options_.page_bytes << size_class));
}

// `locked` is the thread's cache, locked, or nullptr.
HARENA_NOINLINE Block PagePool::AllocateSlow(uint32_t size_class, ThreadCache* locked,
                                             Refusal* refusal) noexcept {
  Refusal ignored;
  if (refusal == nullptr) refusal = &ignored;
  const size_t block_bytes = options_.page_bytes << size_class;
  std::array<void*, ThreadCache::kSlots / 2> batch;
  size_t wanted = 1;
  if (locked != nullptr) {
    // A quarter of what the thread may keep, so that two sizes in turn do not push each other out,
    // and one for the caller beyond what there is room for.
    const size_t room_bytes = options_.thread_cache_bytes_max - locked->cached_bytes;
    wanted = std::clamp<size_t>(cache_slots_[size_class] / 4, 1,
                                std::min(batch.size(), room_bytes / block_bytes + 1));
  }
  size_t taken = Take(size_class, batch.data(), wanted, refusal);
  if (locked != nullptr) {
    ThreadCache::Stack& stack = locked->stacks[size_class];
    for (size_t i = 1; i < taken; ++i) {
      stack.blocks[stack.count++] = batch[taken - i];
      locked->cached_bytes += block_bytes;
    }
    locked->Unlock();
  }
  if (taken == 0) {
    // What the threads keep counts as used: empty their caches before saying no.
    SweepCaches(/*all=*/true, options_.now_ms());
    taken = Take(size_class, batch.data(), 1, refusal);
  }
  if (taken == 0) return {};
  allocated_bytes_.fetch_add(block_bytes, std::memory_order_relaxed);
  allocated_blocks_.fetch_add(1, std::memory_order_relaxed);
  Unpoison(batch[0], block_bytes);
  return {batch[0], block_bytes};
}

Block PagePool::AllocateUnpooled(size_t bytes, Refusal* refusal) noexcept {
  Refusal ignored;
  if (refusal == nullptr) refusal = &ignored;
  if (bytes > SIZE_MAX - kRegionBytes) {
    *refusal = {.bytes_wanted = bytes};
    return {};
  }
  Block block{nullptr, BlockBytes(bytes)};
  if (!Charge(block.bytes, refusal)) {
    SweepCaches(/*all=*/true, options_.now_ms());
    if (!Charge(block.bytes, refusal)) return {};
  }
  block.data = heap_.TakeUnpooled(block.bytes);
  if (!block) {
    Refund(block.bytes);
    *refusal = {.bytes_wanted = bytes};
    return {};
  }
  heap_.KeepFreeWithinBudget();
  allocated_bytes_.fetch_add(block.bytes, std::memory_order_relaxed);
  allocated_blocks_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

// `locked` is the thread's cache, locked and already counted, or nullptr.
HARENA_NOINLINE void PagePool::FreeSlow(void* data, uint32_t size_class,
                                        ThreadCache* locked) noexcept {
  const size_t block_bytes = options_.page_bytes << size_class;
  const uint64_t now_ms = options_.now_ms();
  if (locked == nullptr) {
    freed_bytes_.fetch_add(block_bytes, std::memory_order_relaxed);
    freed_blocks_.fetch_add(1, std::memory_order_relaxed);
    Put(size_class, &data, 1, now_ms);
  } else if (cache_slots_[size_class] == 0) {
    locked->Unlock();
    Put(size_class, &data, 1, now_ms);
  } else {
    ThreadCache::Stack& stack = locked->stacks[size_class];
    if (stack.count > 1) {
      // The older half leaves; the hot half stays.
      const uint32_t leaving = stack.count / 2;
      Put(size_class, stack.blocks.data(), leaving, now_ms);
      std::copy(stack.blocks.begin() + leaving, stack.blocks.begin() + stack.count,
                stack.blocks.begin());
      stack.count -= leaving;
      locked->cached_bytes -= leaving * block_bytes;
    }
    if (stack.count >= cache_slots_[size_class] ||
        locked->cached_bytes + block_bytes > options_.thread_cache_bytes_max) {
      Drain(*locked, now_ms);  // Other sizes fill the cache: they make room.
    }
    stack.blocks[stack.count++] = data;
    locked->cached_bytes += block_bytes;
    locked->Unlock();
  }
  Decay();
}

PagePoolStats PagePool::stats() const noexcept {
  PagePoolStats stats = heap_.stats();
  std::lock_guard lock(TheRegistry().mutex);
  uint64_t allocated_bytes = allocated_bytes_.load();
  uint64_t freed_bytes = freed_bytes_.load();
  stats.blocks_allocated = allocated_blocks_.load();
  stats.blocks_freed = freed_blocks_.load();
  stats.blocks_moved = moved_blocks_.load();
  for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
    while (!cache->TryLock()) std::this_thread::yield();
    allocated_bytes += cache->allocated_bytes;
    freed_bytes += cache->freed_bytes;
    stats.blocks_allocated += cache->allocated_blocks;
    stats.blocks_freed += cache->freed_blocks;
    stats.blocks_moved += cache->moved_blocks.load(std::memory_order_relaxed);
    stats.bytes_thread_cached += cache->cached_bytes;
    cache->Unlock();
  }
  stats.bytes_in_use = allocated_bytes > freed_bytes ? allocated_bytes - freed_bytes : 0;
  return stats;
}

}  // namespace harena
