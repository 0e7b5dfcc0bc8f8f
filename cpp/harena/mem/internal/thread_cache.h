// The free blocks that threads keep, and the registry of the pools that they are of.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>

#include "harena/mem/internal/page_heap.h"
#include "harena/mem/page_pool.h"

namespace harena::mem_internal {

/// One thread's free blocks of one pool.
/// Thread rule: only its thread allocates and frees through it, but the pool may empty it from
/// another thread when it has been idle. Both take `busy` for the few instructions they need;
/// neither ever waits: whoever finds it taken goes to the heap instead. (Who ends a cache, or
/// counts it, does wait.) cpp/tests/models/cache_lock.pml shows that one at a time is inside, and
/// that each sees what the one before did.
struct alignas(64) ThreadCache {
  static constexpr uint32_t kSlots = 32;
  /// Operations between two looks at the clock.
  static constexpr uint32_t kOperationsPerTick = 256;

  struct Stack {
    uint32_t count = 0;
    std::array<void*, kSlots> blocks;  // hottest last
  };

  bool TryLock() noexcept {
    return !busy.load(std::memory_order_relaxed) && !busy.exchange(true, std::memory_order_acquire);
  }
  void Unlock() noexcept { busy.store(false, std::memory_order_release); }

  /// The pool it serves; null once that pool is gone.
  std::atomic<PagePool*> pool{nullptr};
  std::atomic<bool> busy{false};
  std::atomic<uint32_t> operations{0};  // written by its thread, read by the sweeper
  uint32_t operations_at_sweep = 0;     // guarded by the registry's mutex
  size_t cached_bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t freed_bytes = 0;
  uint64_t allocated_blocks = 0;
  uint64_t freed_blocks = 0;
  std::atomic<uint64_t> moved_blocks{0};  // written by its thread alone, without the lock
  std::array<Stack, kSizeClassesMax> stacks;
  ThreadCache* next = nullptr;  // guarded by the registry's mutex
};

/// The pools of the process by index. The mutex guards these places, which caches belong to which
/// pool, and the pools' lists of caches.
/// Thread rule: the mutex is taken when a thread first uses a pool, when a thread or a pool ends,
/// for decay and by fork(), never to allocate. It is ordered before the caches' locks and the
/// heaps' mutexes.
/// Lifetime rule: never destroyed, because threads may end after static destruction.
struct PoolRegistry {
  std::mutex mutex;
  std::array<std::atomic<PagePool*>, PagePool::kPoolsMax> pools{};
};
static_assert(std::is_trivially_destructible_v<PoolRegistry>);

inline PoolRegistry& TheRegistry() noexcept {
  static constinit PoolRegistry registry;
  return registry;
}

}  // namespace harena::mem_internal
