#include "harena/mem/internal/page_pool_fork.h"

#include <array>
#include <atomic>
#include <thread>

#include "harena/base/fork_mutex.h"
#include "harena/mem/internal/pool_registry.h"
#include "harena/mem/internal/quarantine.h"
#include "harena/mem/internal/thread_cache.h"

namespace harena {

using mem_internal::QuarantineSource;
using mem_internal::TheRegistry;
using mem_internal::ThreadCache;

namespace {

// The sources locked by Before(): which quarantine a pool has may change until After(), as no lock
// guards that. Guarded by the registry's mutex, which also keeps them alive: the pool of a
// quarantine takes it to end, before its source ends.
constinit std::array<QuarantineSource*, PagePool::kPoolsMax> locked_sources{};

}  // namespace

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
  // After the heaps: a heap asks its source for memory while it is locked.
  ForEachPool([](PagePool& pool) {
    auto* const quarantine = pool.quarantine_.load(std::memory_order_acquire);
    if (quarantine == nullptr) return;
    quarantine->source.LockForFork();
    locked_sources[pool.index_] = &quarantine->source;
  });
}

void PagePool::Fork::After() noexcept {
  for (QuarantineSource*& source : locked_sources) {
    if (source != nullptr) source->UnlockAfterFork();
    source = nullptr;
  }
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
