#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace harena {

/// How many requests used how many bytes, by powers of two from 1 KiB to 1 GiB. Unlike a Profile it
/// counts since the start, so that the difference of two snapshots is what happened in between.
struct BytesHistogram {
  /// The last one holds what is beyond 1 GiB.
  static constexpr size_t kBuckets = 22;

  /// The most bytes that one of the buckets holds. REQUIRES: bucket + 1 < kBuckets.
  static constexpr size_t BytesMax(size_t bucket) noexcept { return size_t{1024} << bucket; }

  static constexpr size_t BucketOf(size_t bytes) noexcept {
    if (bytes <= 1024) return 0;
    return std::min(static_cast<size_t>(std::bit_width((bytes - 1) >> 10)), kBuckets - 1);
  }

  std::array<uint64_t, kBuckets> counts{};
};

}  // namespace harena
