#include "harena/mem/internal/page_pool_fork.h"

#include <atomic>
#include <thread>

#include "harena/base/fork_mutex.h"
#include "harena/mem/internal/pool_registry.h"
#include "harena/mem/internal/thread_cache.h"

namespace harena {

using mem_internal::TheRegistry;
using mem_internal::ThreadCache;

template <typename Function>
void PagePool::Fork::ForEachPool(Function function) {
  for (auto& place : TheRegistry().pools) {
    if (PagePool* pool = place.load()) function(*pool);
  }
}

void PagePool::Fork::Before() noexcept {
  TheRegistry().mutex.lock();
  ForEachPool([](PagePool& pool) {
    for (ThreadCache* cache = pool.caches_; cache != nullptr; cache = cache->next) {
      while (!cache->TryLock()) std::this_thread::yield();
    }
    pool.heap_.LockForFork();
  });
  // After the heaps: a heap asks its source for memory while it is locked, and that of a quarantine
  // belongs to a guard.
  ForEachPool([](PagePool& pool) {
    if (pool.guard_ != nullptr) pool.guard_->LockForFork();
  });
}

void PagePool::Fork::After() noexcept {
  ForEachPool([](PagePool& pool) {
    if (pool.guard_ != nullptr) pool.guard_->UnlockAfterFork();
  });
  ForEachPool([](PagePool& pool) {
    pool.heap_.UnlockAfterFork();
    for (ThreadCache* cache = pool.caches_; cache != nullptr; cache = cache->next) {
      cache->Unlock();
    }
  });
  TheRegistry().mutex.unlock();
}

// Blocks that the parent's other threads held never come back here.
void PagePool::Fork::AfterInChild() noexcept {
  ForEachPool([](PagePool& pool) { pool.heap_.ForgetWhatIsOutside(); });
  After();
}

void PagePool::Fork::Install() noexcept {
  static constexpr ForkSteps kSteps{&Before, &After, &AfterInChild};
  SetForkSteps(kSteps);
}

}  // namespace harena
