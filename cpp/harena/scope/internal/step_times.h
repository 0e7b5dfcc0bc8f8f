// How long one step takes, of the scopes that are timed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harena/scope/histogram.h"

namespace harena::scope_internal {

/// Thread rule: any thread. Shared by all threads: it is added to by one scope in many.
class StepTimes {
 public:
  void Add(uint64_t nanos) noexcept {
    counts_[DurationHistogram::BucketOf(nanos)].fetch_add(1, std::memory_order_relaxed);
    nanos_.fetch_add(nanos, std::memory_order_relaxed);
  }

  DurationHistogram histogram() const noexcept {
    DurationHistogram all;
    for (size_t i = 0; i < all.counts.size(); ++i) {
      all.counts[i] = counts_[i].load(std::memory_order_relaxed);
    }
    return all;
  }
  uint64_t nanos() const noexcept { return nanos_.load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<uint64_t>, DurationHistogram::kBuckets> counts_{};
  std::atomic<uint64_t> nanos_{0};
};

}  // namespace harena::scope_internal
