// Counts by powers of two.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace harena {

/// How many of something there were by size, by powers of two from 2^10 to 2^30. Unlike a Profile
/// it counts since the start, so that the difference of two snapshots is what happened in between.
struct PowersHistogram {
  /// The last one holds what is beyond 2^30.
  static constexpr size_t kBuckets = 22;

  static constexpr size_t BucketOf(uint64_t size) noexcept {
    if (size <= 1024) return 0;
    return std::min(static_cast<size_t>(std::bit_width((size - 1) >> 10)), kBuckets - 1);
  }

  std::array<uint64_t, kBuckets> counts{};

 protected:
  static constexpr uint64_t Max(size_t bucket) noexcept { return uint64_t{1024} << bucket; }
};

/// Requests by the bytes that they used, from 1 KiB to 1 GiB.
struct BytesHistogram : PowersHistogram {
  /// The most bytes that one of the buckets holds. REQUIRES: bucket + 1 < kBuckets.
  static constexpr size_t BytesMax(size_t bucket) noexcept { return Max(bucket); }
};

/// Requests by the blocks that they took: 1, up to 2, up to 4 and so on to 64.
struct BlocksHistogram {
  /// The last one holds what is beyond 64.
  static constexpr size_t kBuckets = 8;

  static constexpr size_t BucketOf(uint64_t blocks) noexcept {
    if (blocks <= 1) return 0;
    return std::min(static_cast<size_t>(std::bit_width(blocks - 1)), kBuckets - 1);
  }
  /// The most blocks that one of the buckets holds. REQUIRES: bucket + 1 < kBuckets.
  static constexpr uint64_t BlocksMax(size_t bucket) noexcept { return uint64_t{1} << bucket; }

  std::array<uint64_t, kBuckets> counts{};
};

/// Durations, from about a microsecond to about a second.
struct DurationHistogram : PowersHistogram {
  /// The longest that one of the buckets holds, in seconds. REQUIRES: bucket + 1 < kBuckets.
  static constexpr double SecondsMax(size_t bucket) noexcept {
    return static_cast<double>(Max(bucket)) / 1e9;
  }
};

}  // namespace harena
