#include "harena/scope/histogram.h"

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"

namespace harena {
namespace {

TEST(BytesHistogram, EachBucketHoldsUpToItsBytes) {
  for (size_t bucket = 0; bucket + 1 < BytesHistogram::kBuckets; ++bucket) {
    const size_t bytes_max = BytesHistogram::BytesMax(bucket);
    EXPECT_EQ(BytesHistogram::BucketOf(bytes_max), bucket) << bytes_max;
    EXPECT_EQ(BytesHistogram::BucketOf(bytes_max + 1), bucket + 1) << bytes_max;
  }
}

TEST(BytesHistogram, ReachesFromOneKibToOneGib) {
  EXPECT_EQ(BytesHistogram::BytesMax(0), kKiB);
  EXPECT_EQ(BytesHistogram::BytesMax(BytesHistogram::kBuckets - 2), 1024 * kMiB);
  EXPECT_EQ(BytesHistogram::BucketOf(0), 0u);
  EXPECT_EQ(BytesHistogram::BucketOf(SIZE_MAX), BytesHistogram::kBuckets - 1);
}

TEST(BlocksHistogram, EachBucketHoldsUpToItsBlocks) {
  EXPECT_EQ(BlocksHistogram::BucketOf(0), 0u);
  for (size_t bucket = 0; bucket + 1 < BlocksHistogram::kBuckets; ++bucket) {
    const uint64_t blocks_max = BlocksHistogram::BlocksMax(bucket);
    EXPECT_EQ(BlocksHistogram::BucketOf(blocks_max), bucket) << blocks_max;
    EXPECT_EQ(BlocksHistogram::BucketOf(blocks_max + 1), bucket + 1) << blocks_max;
  }
  EXPECT_EQ(BlocksHistogram::BlocksMax(BlocksHistogram::kBuckets - 2), 64u);
  EXPECT_EQ(BlocksHistogram::BucketOf(UINT64_MAX), BlocksHistogram::kBuckets - 1);
}

TEST(DurationHistogram, ReachesFromAMicrosecondToASecond) {
  EXPECT_DOUBLE_EQ(DurationHistogram::SecondsMax(0), 1.024e-6);
  EXPECT_NEAR(DurationHistogram::SecondsMax(DurationHistogram::kBuckets - 2), 1.07, 0.01);
  EXPECT_EQ(DurationHistogram::BucketOf(1024), 0u);
  EXPECT_EQ(DurationHistogram::BucketOf(1025), 1u);
}

}  // namespace
}  // namespace harena
