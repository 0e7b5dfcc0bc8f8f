// What a ScopePool shares with its scopes, so that they may outlive it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "harena/base/fork_mutex.h"
#include "harena/scope/histogram.h"
#include "harena/scope/internal/detached_list.h"
#include "harena/scope/internal/live_options.h"
#include "harena/scope/internal/scope_counts.h"
#include "harena/scope/options.h"
#include "harena/scope/profile.h"

namespace harena::scope_internal {

/// How long one step takes, of the scopes that are timed.
/// Thread rule: any thread. Shared by all threads: it is added to by one scope in many.
class StepTimes {
 public:
  void Add(uint64_t nanos) noexcept {
    counts_[DurationHistogram::BucketOf(nanos)].fetch_add(1, std::memory_order_relaxed);
    nanos_.fetch_add(nanos, std::memory_order_relaxed);
  }

  DurationHistogram histogram() const noexcept {
    DurationHistogram all;
    std::copy(counts_.begin(), counts_.end(), all.counts.begin());
    return all;
  }
  uint64_t nanos() const noexcept { return nanos_.load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<uint64_t>, DurationHistogram::kBuckets> counts_{};
  std::atomic<uint64_t> nanos_{0};
};

/// Lifetime rule: of its pool and of every scope that was made there, none of which counts owners:
/// two locked instructions per scope that all threads would meet at. Instead each scope is counted
/// as released with the last that it does here, and a pool that ends leaves what is still needed
/// to the next one that is made or ends.
struct PoolState {
  PoolState(const Options& initial, std::string_view method)
      : options(initial),
        name(method),
        first_block_bytes(initial.first_block_bytes),
        counts(initial.quarantine_one_in) {}

  /// Scopes between two looks at the profile.
  static constexpr uint64_t kScopesPerSizing = 64;

  LiveOptions options;
  const std::string name;
  bool messages_may_throw = true;
  ForkMutex change;                       // held while options are checked together and changed
  std::atomic<size_t> first_block_bytes;  // of the next scope: as set, or as learned
  Profile profile;
  ScopeCounts counts;
  StepTimes parse_times;
  StepTimes serialize_times;
  std::atomic<uint64_t> detached{0};
  DetachedList detached_live;
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> sampled{0};

  /// The bytes that the profile asks of a first block.
  size_t LearnedFirstBlockBytes() const noexcept;

  /// Counts an end, while the scope's memory is still there.
  void RecordEnd(const ScopeUse& use, ThreadCounts& of_thread) noexcept;
  /// Counts the blocks that went back. Nothing of the state may be touched after it.
  static void RecordRelease(ThreadCounts& of_thread, uint64_t blocks) noexcept {
    of_thread.Add(of_thread.blocks_sum, blocks);
    of_thread.Add(of_thread.released[BlocksHistogram::BucketOf(blocks)], 1,
                  std::memory_order_release);
  }
  /// REQUIRES: no scope is made any more.
  bool AllReleased() const noexcept;

  PoolState* next_left = nullptr;  // of those that were left with scopes
};

}  // namespace harena::scope_internal
