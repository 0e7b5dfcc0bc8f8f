// What a pool gives back as time passes, and when it is asked to.
#include <mutex>

#include "harena/base/check.h"
#include "harena/mem/internal/thread_cache.h"
#include "harena/mem/page_pool.h"

namespace harena {

using mem_internal::TheRegistry;
using mem_internal::ThreadCache;

// Empties the caches that were not used since the last sweep, at `last_ms`, or all of them.
void PagePool::SweepCaches(bool all, uint64_t last_ms) noexcept {
  std::lock_guard lock(TheRegistry().mutex);
  for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
    const uint32_t operations = cache->operations.load(std::memory_order_relaxed);
    const bool idle = operations == cache->operations_at_sweep;
    cache->operations_at_sweep = operations;
    if (!idle && !all) continue;
    if (!cache->TryLock()) continue;
    if (cache->cached_bytes != 0) Drain(*cache, last_ms);
    cache->Unlock();
  }
}

size_t PagePool::Decay() noexcept {
  const auto decay_ms = static_cast<uint64_t>(retention().decay_after.count());
  if (decay_ms == 0) return 0;
  const uint64_t now_ms = options_.now_ms();
  uint64_t last_ms = last_decay_ms_.load(std::memory_order_relaxed);
  // Half the period, so that nothing stays for more than one and a half. Another thread may have
  // read the clock a little later and been here first.
  const bool backwards = now_ms < last_ms;
  if ((backwards ? last_ms - now_ms : now_ms - last_ms) < decay_ms / 2 + 1) return 0;
  if (!last_decay_ms_.compare_exchange_strong(last_ms, now_ms)) return 0;
  if (guard_ != nullptr) guard_->Decay();
  SweepCaches(/*all=*/false, last_ms);
  // After a clock that jumped back no block's age is known: all of them count as old.
  if (backwards) return heap_.Decay(UINT64_MAX);
  return heap_.Decay(now_ms > decay_ms ? now_ms - decay_ms + 1 : 0);
}

size_t PagePool::Trim() noexcept {
  if (guard_ != nullptr) guard_->Decay();
  SweepCaches(/*all=*/true, options_.now_ms());
  return heap_.Decay(UINT64_MAX);
}

void PagePool::SetRetention(const PagePoolRetention& retention) noexcept {
  HARENA_CHECK(retention.decay_after.count() >= 0,
               "decay_after is negative; use 0 to keep free memory for ever");
  decay_after_.store(retention.decay_after, std::memory_order_relaxed);
  heap_.SetRetainedBytesMax(retention.retained_bytes_max);
}

PagePoolRetention PagePool::retention() const noexcept {
  return {.retained_bytes_max = heap_.retained_bytes_max(),
          .decay_after = decay_after_.load(std::memory_order_relaxed)};
}

}  // namespace harena
