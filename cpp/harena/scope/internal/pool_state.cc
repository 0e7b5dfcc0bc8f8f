#include "harena/scope/internal/pool_state.h"

#include <algorithm>
#include <utility>

#include "harena/base/fork_mutex.h"
#include "harena/scope/scope_pool.h"

namespace harena::scope_internal {

size_t PoolState::LearnedFirstBlockBytes() const noexcept {
  const Options now = options.Load();
  // A quarter of the limit at most: a block is charged whole, and requests that ran into the limit
  // must not teach the next ones to start with all of it.
  const size_t part_of_limit_bytes = now.request_bytes_max / 4;
  return FirstBlockBytes(now.pool(), profile.Percentile(now.first_block_percentile),
                         std::min(now.first_block_bytes_max, part_of_limit_bytes));
}

void PoolState::RecordEnd(const ScopeUse& use, ThreadCounts& of_thread) noexcept {
  const uint64_t count = profile.Record(use.bytes_used);
  if (HARENA_UNLIKELY((count % kScopesPerSizing == 0 || count <= 4) &&
                      options.Get(&Options::first_block_bytes) == 0)) {
    first_block_bytes.store(LearnedFirstBlockBytes(), std::memory_order_relaxed);
  }
  of_thread.AddEnd(use);
}

bool PoolState::AllReleased() const noexcept {
  uint64_t released = 0;
  counts.ForEach([&](const ThreadCounts& of_thread) {
    for (const auto& count : of_thread.released) released += count.load(std::memory_order_acquire);
  });
  return released == counts.Sum(&ThreadCounts::made);
}

void LeavePoolState::operator()(PoolState* state) const noexcept {
  // Those that were left with scopes. Never destroyed: pools may be static objects.
  static NeverDestroyed<ForkMutex> mutex;
  static constinit PoolState* newest_left = nullptr;
  std::lock_guard lock(*mutex);
  state->next_left = std::exchange(newest_left, state);
  for (PoolState** link = &newest_left; *link != nullptr;) {
    PoolState* const left = *link;
    if (left->AllReleased()) {
      *link = left->next_left;
      delete left;
    } else {
      link = &left->next_left;
    }
  }
}

}  // namespace harena::scope_internal
