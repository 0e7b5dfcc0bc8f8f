// Counts by powers of two.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace harena {

/// How many of something there were by size: up to `kFirst`, up to twice that and so on. Unlike a
/// Profile it counts since the start, so that the difference of two snapshots is what happened in
/// between.
template <uint64_t kFirst, size_t kBucketCount>
struct PowersHistogram {
  /// The last one holds what is beyond the others.
  static constexpr size_t kBuckets = kBucketCount;

  static constexpr size_t BucketOf(uint64_t size) noexcept {
    if (size <= kFirst) return 0;
    return std::min(static_cast<size_t>(std::bit_width((size - 1) / kFirst)), kBuckets - 1);
  }

  std::array<uint64_t, kBuckets> counts{};

 protected:
  static constexpr uint64_t Max(size_t bucket) noexcept { return kFirst << bucket; }
};

/// Requests by the bytes that they used, from 1 KiB to 1 GiB.
struct BytesHistogram : PowersHistogram<1024, 22> {
  /// The most bytes that one of the buckets holds. REQUIRES: bucket + 1 < kBuckets.
  static constexpr size_t BytesMax(size_t bucket) noexcept { return Max(bucket); }
};

/// Requests by the blocks that they took: 1, up to 2, up to 4 and so on to 64.
struct BlocksHistogram : PowersHistogram<1, 8> {
  /// The most blocks that one of the buckets holds. REQUIRES: bucket + 1 < kBuckets.
  static constexpr uint64_t BlocksMax(size_t bucket) noexcept { return Max(bucket); }
};

/// Durations, from about a microsecond to about a second.
struct DurationHistogram : PowersHistogram<1024, 22> {
  /// The longest that one of the buckets holds, in seconds. REQUIRES: bucket + 1 < kBuckets.
  static constexpr double SecondsMax(size_t bucket) noexcept {
    return static_cast<double>(Max(bucket)) / 1e9;
  }
};

}  // namespace harena
