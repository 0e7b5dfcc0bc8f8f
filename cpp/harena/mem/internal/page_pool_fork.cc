// What page pools do when the process forks.
#include <atomic>
#include <thread>

#include "harena/base/fork_mutex.h"
#include "harena/mem/internal/thread_cache.h"
#include "harena/mem/page_pool.h"

namespace harena {

using mem_internal::TheRegistry;
using mem_internal::ThreadCache;

// Holds everything still while the process forks: the child has only the forking thread, so a lock
// that another one holds would be held for ever, and what it guards could be half changed.
struct PagePool::Fork {
  template <typename Function>
  static void ForEachPool(Function function) {
    for (auto& place : TheRegistry().pools) {
      if (PagePool* pool = place.load()) function(*pool);
    }
  }

  static void Before() noexcept {
    TheRegistry().mutex.lock();
    ForEachPool([](PagePool& pool) {
      for (ThreadCache* cache = pool.caches_; cache != nullptr; cache = cache->next) {
        while (!cache->TryLock()) std::this_thread::yield();
      }
      pool.heap_.LockForFork();
    });
    // After the heaps: a heap asks its source for memory while it is locked, and that of a
    // quarantine belongs to a guard.
    ForEachPool([](PagePool& pool) {
      if (pool.guard_ != nullptr) pool.guard_->LockForFork();
    });
  }

  static void After(bool in_child) noexcept {
    ForEachPool([](PagePool& pool) {
      if (pool.guard_ != nullptr) pool.guard_->UnlockAfterFork();
    });
    ForEachPool([=](PagePool& pool) {
      // Blocks that the parent's other threads held never come back here.
      if (in_child) pool.heap_.ForgetWhatIsOutside();
      pool.heap_.UnlockAfterFork();
      for (ThreadCache* cache = pool.caches_; cache != nullptr; cache = cache->next) {
        cache->Unlock();
      }
    });
    TheRegistry().mutex.unlock();
  }
};

void PagePool::InstallForkSteps() noexcept {
  static constexpr ForkSteps kSteps{&Fork::Before, &Fork::After};
  SetForkSteps(kSteps);
}

}  // namespace harena
