#include "harena/scope/profile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "harena/base/check.h"

namespace harena {

// Bucket 2k holds up to 2^k, bucket 2k+1 up to 1.5 * 2^k.
size_t Profile::BucketOf(size_t bytes) noexcept {
  if (bytes <= 1) return 0;
  const auto log = static_cast<size_t>(std::bit_width(bytes) - 1);
  const size_t floor = size_t{1} << log;
  const size_t bucket = 2 * log + (bytes == floor ? 0 : (bytes <= floor + floor / 2 ? 1 : 2));
  return std::min(bucket, kBuckets - 1);
}

size_t Profile::BucketBytes(size_t bucket) noexcept {
  const size_t floor = size_t{1} << (bucket / 2);
  return bucket % 2 == 0 ? floor : floor + floor / 2;
}

uint64_t Profile::Record(size_t bytes) noexcept {
  std::atomic<uint32_t>& count = counts_[BucketOf(bytes)];
  // Not fetch_add: a lost count is cheaper than a locked instruction per request.
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const uint64_t records = records_.load(std::memory_order_relaxed) + 1;
  records_.store(records, std::memory_order_relaxed);
  if (HARENA_UNLIKELY(records % kWindow == 0)) {
    for (auto& old : counts_) {
      old.store(old.load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
    }
  }
  return records;
}

size_t Profile::Percentile(double percent) const noexcept {
  HARENA_DCHECK(percent > 0 && percent <= 100, "a percentile lies above 0 and up to 100");
  // Read once: others may halve the counts meanwhile.
  std::array<uint32_t, kBuckets> counts;
  uint64_t total = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    counts[bucket] = counts_[bucket].load(std::memory_order_relaxed);
    total += counts[bucket];
  }
  if (total == 0) return 0;
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += counts[bucket];
    if (static_cast<double>(seen) * 100 >= percent * static_cast<double>(total)) {
      return BucketBytes(bucket);
    }
  }
  return BucketBytes(kBuckets - 1);
}

}  // namespace harena
