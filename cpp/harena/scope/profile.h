#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace harena {

/// What the requests of one method really use: a streaming estimate of the percentiles of their
/// bytes. First blocks are sized from it, and what is kept for the next request is limited by it,
/// so that a rare giant pins nothing.
///
/// Counts by half powers of two, halved every kWindow records: the estimate follows the last few
/// thousand requests and overstates a percentile by at most 50 %.
/// Thread rule: any thread. Records that meet may be lost; the estimate does not mind.
class Profile {
 public:
  /// Records after which all counts are halved.
  static constexpr uint32_t kWindow = 1024;

  /// Notes that a request used `bytes`, and says how many records that makes. A few nanoseconds.
  uint64_t Record(size_t bytes) noexcept;

  /// The bytes that `percent` of the recent requests stayed within; 0 while nothing is recorded.
  /// REQUIRES: 0 < percent <= 100.
  size_t Percentile(double percent) const noexcept;

  /// Records since the start.
  uint64_t records() const noexcept { return records_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kBuckets = 96;

  static size_t BucketOf(size_t bytes) noexcept;
  static size_t BucketBytes(size_t bucket) noexcept;

  std::array<std::atomic<uint32_t>, kBuckets> counts_{};
  std::atomic<uint64_t> records_{0};
};

}  // namespace harena
