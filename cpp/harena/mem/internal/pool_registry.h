// Which page pool has which index.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <type_traits>

#include "harena/mem/page_pool.h"

namespace harena::mem_internal {

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
