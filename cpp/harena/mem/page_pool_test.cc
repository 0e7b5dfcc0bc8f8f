#include "harena/mem/page_pool.h"

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/test_pool.h"
#include "tests/safety_count.h"

namespace harena {
namespace {

TEST(PagePool, RoundsUpToSizeClasses) {
  PagePool pool(TestOptions());
  EXPECT_EQ(pool.BlockBytes(0), 64 * kKiB);
  EXPECT_EQ(pool.BlockBytes(1), 64 * kKiB);
  EXPECT_EQ(pool.BlockBytes(64 * kKiB), 64 * kKiB);
  EXPECT_EQ(pool.BlockBytes(64 * kKiB + 1), 128 * kKiB);
  EXPECT_EQ(pool.BlockBytes(32 * kMiB - 1), 32 * kMiB);
  EXPECT_EQ(pool.BlockBytes(32 * kMiB), 32 * kMiB);
  EXPECT_EQ(pool.BlockBytes(32 * kMiB + 1), 34 * kMiB);  // not pooled: whole regions
}

TEST(PagePool, GivesBlocksOfEveryClassThatHoldTheirBytes) {
  FailingPageSource source;
  {
    PagePool pool(TestOptions(), source);
    std::vector<Block> blocks;
    uint64_t stamp = 0;
    for (size_t bytes = 1; bytes <= 80 * kMiB; bytes = bytes * 2 + 1) {
      const Block block = pool.TryAllocate(bytes);
      ASSERT_TRUE(block);
      EXPECT_GE(block.bytes, bytes);
      EXPECT_EQ(block.bytes, pool.BlockBytes(bytes));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % 4096, 0u);
      Stamp(block.data, block.bytes, ++stamp);
      blocks.push_back(block);
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_TRUE(HasStamp(blocks[i].data, blocks[i].bytes, i + 1));
      pool.Free(blocks[i].data, blocks[i].bytes);
    }
    EXPECT_TRUE(AddsUp(pool.stats()));
    EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  }
  EXPECT_EQ(source.mapped_bytes(), 0);
}

TEST(PagePool, TakesBackWithTheSizeAskedForOrGiven) {
  PagePool pool(TestOptions());
  for (const size_t bytes : {size_t{1}, 70 * kKiB, 3 * kMiB, 33 * kMiB}) {
    const Block asked = pool.TryAllocate(bytes);
    pool.Free(asked.data, bytes);
    const Block given = pool.TryAllocate(bytes);
    pool.Free(given.data, given.bytes);
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(PagePool, HandsTheHottestBlockOutAgain) {
  PagePool pool(TestOptions());
  const Block first = pool.TryAllocate(1);
  pool.Free(first.data, first.bytes);
  const Block second = pool.TryAllocate(1);
  EXPECT_EQ(first.data, second.data);
  pool.Free(second.data, second.bytes);
}

TEST(PagePool, BlocksLargerThanAnyClassAreNotKept) {
  FailingPageSource source;
  PagePool pool(TestOptions(), source);
  const Block block = pool.TryAllocate(33 * kMiB);
  ASSERT_TRUE(block);
  EXPECT_EQ(block.bytes, 34 * kMiB);
  EXPECT_EQ(PagePool::OwnerOf(static_cast<char*>(block.data) + 20 * kMiB), &pool);
  EXPECT_EQ(source.mapped_bytes(), static_cast<int64_t>(34 * kMiB));
  pool.Free(block.data, 33 * kMiB);
  EXPECT_EQ(source.mapped_bytes(), 0);
  EXPECT_EQ(PagePool::OwnerOf(block.data), nullptr);
  EXPECT_TRUE(AddsUp(pool.stats()));
}

TEST(PagePool, RefusesSizesNoSystemHas) {
  PagePool pool(TestOptions());
  Refusal refusal;
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2, size_t{1} << 50}) {
    EXPECT_FALSE(pool.TryAllocate(bytes, &refusal)) << bytes;
    EXPECT_STREQ(refusal.limit, "memory");
    EXPECT_EQ(refusal.bytes_wanted, bytes);
    EXPECT_FALSE(pool.TryAllocate(bytes));
  }
  EXPECT_EQ(pool.stats().bytes_mapped, 0u);
}

TEST(PagePool, OwnerIsFoundFromAnyAddressOfABlock) {
  PagePool one(TestOptions());
  PagePool two(TestOptions());
  const Block of_one = one.TryAllocate(1);
  const Block of_two = two.TryAllocate(4 * kMiB);
  EXPECT_EQ(PagePool::OwnerOf(of_one.data), &one);
  EXPECT_EQ(PagePool::OwnerOf(static_cast<char*>(of_one.data) + of_one.bytes - 1), &one);
  EXPECT_EQ(PagePool::OwnerOf(static_cast<char*>(of_two.data) + 3 * kMiB), &two);
  int elsewhere = 0;
  EXPECT_EQ(PagePool::OwnerOf(&elsewhere), nullptr);
  one.Free(of_one.data, of_one.bytes);
  two.Free(of_two.data, of_two.bytes);
}

TEST(PagePool, StatsSayWhereEveryByteIs) {
  PagePool pool(TestOptions());
  std::vector<Block> blocks;
  for (int i = 0; i < 50; ++i) blocks.push_back(pool.TryAllocate(64 * kKiB));
  PagePoolStats stats = pool.stats();
  EXPECT_EQ(stats.bytes_in_use, 50 * 64 * kKiB);
  EXPECT_EQ(stats.bytes_mapped, 4 * kMiB);  // 32 pages to a region
  EXPECT_EQ(stats.regions_mapped, 2u);
  EXPECT_EQ(stats.blocks_allocated, 50u);
  EXPECT_EQ(stats.blocks_freed, 0u);
  EXPECT_EQ(stats.bytes_retained, 0u);
  EXPECT_TRUE(AddsUp(stats));
  for (const Block& block : blocks) pool.Free(block.data, block.bytes);
  stats = pool.stats();
  EXPECT_EQ(stats.bytes_in_use, 0u);
  EXPECT_EQ(stats.blocks_freed, 50u);
  EXPECT_EQ(stats.bytes_thread_cached + stats.bytes_retained, 50 * 64 * kKiB);
  EXPECT_TRUE(AddsUp(stats));
  EXPECT_EQ(pool.Trim(), 50 * 64 * kKiB);
  stats = pool.stats();
  EXPECT_EQ(stats.bytes_mapped, 0u);
  EXPECT_EQ(stats.regions_unmapped, 2u);
  EXPECT_EQ(stats.bytes_decommitted, 50 * 64 * kKiB);
  EXPECT_TRUE(AddsUp(stats));
}

TEST(PagePool, TrimKeepsARegionThatIsPartlyInUse) {
  PagePool pool(TestOptions());
  const Block held = pool.TryAllocate(1);
  const Block other = pool.TryAllocate(1);
  Stamp(held.data, held.bytes, 5);
  pool.Free(other.data, other.bytes);
  EXPECT_EQ(pool.Trim(), 64 * kKiB);
  EXPECT_EQ(pool.Trim(), 0u);
  EXPECT_EQ(pool.stats().bytes_mapped, 2 * kMiB);
  EXPECT_EQ(pool.stats().bytes_cold, 31 * 64 * kKiB);
  EXPECT_TRUE(HasStamp(held.data, held.bytes, 5));
  const Block again = pool.TryAllocate(1);
  EXPECT_EQ(pool.stats().regions_mapped, 1u);  // cold blocks are used before a new region
  pool.Free(again.data, again.bytes);
  pool.Free(held.data, held.bytes);
}

TEST(PagePool, RetainsNoMoreThanItsBound) {
  PagePoolOptions options = TestOptions();
  options.retained_bytes_max = 3 * kMiB;
  options.thread_cache_bytes_max = 0;
  PagePool pool(options);
  std::mt19937 random(1);
  std::vector<Block> blocks;
  for (int i = 0; i < 200; ++i) {
    blocks.push_back(pool.TryAllocate(std::uniform_int_distribution<size_t>(1, kMiB)(random)));
  }
  for (const Block& block : blocks) {
    pool.Free(block.data, block.bytes);
    EXPECT_LE(pool.stats().bytes_retained, options.retained_bytes_max);
  }
  EXPECT_GT(pool.stats().bytes_retained, kMiB);
  EXPECT_TRUE(AddsUp(pool.stats()));
}

// The class that came back last once gave first, however cold the other classes were.
TEST(PagePool, TheRetentionBoundSparesHotBlocksOfAnotherSize) {
  PagePoolOptions options = TestOptions();
  options.retained_bytes_max = 4 * kMiB;
  options.thread_cache_bytes_max = 0;
  PagePool pool(options);
  std::vector<Block> cold;
  for (int i = 0; i < 64; ++i) cold.push_back(pool.TryAllocate(64 * kKiB));
  for (const Block& block : cold) pool.Free(block.data, block.bytes);
  ASSERT_EQ(pool.stats().bytes_retained, 4 * kMiB);
  test_now_ms += 100;
  for (int i = 0; i < 3; ++i) {
    const Block hot = pool.TryAllocate(kMiB);
    pool.Free(hot.data, hot.bytes);
  }
  EXPECT_EQ(pool.stats().bytes_decommitted, kMiB);  // once, and of the cold ones
  EXPECT_EQ(pool.stats().bytes_retained, 4 * kMiB);
}

TEST(PagePool, AsksForHugePagesOnlyWhenTold) {
  FailingPageSource source;
  PagePoolOptions options = TestOptions();
  for (const HugePages mode : {HugePages::kOff, HugePages::kAdvise}) {
    options.huge_pages = mode;
    PagePool pool(options, source);
    const Block block = pool.TryAllocate(1);
    pool.Free(block.data, block.bytes);
    EXPECT_EQ(source.advised(), mode == HugePages::kAdvise ? 1 : 0);
  }
}

TEST(PagePool, DefaultPoolIsOneAndWorks) {
  PagePool& pool = PagePool::Default();
  EXPECT_EQ(&pool, &PagePool::Default());
  const size_t before = ProcessBudget().bytes_used();
  const Block block = pool.TryAllocate(1);
  ASSERT_TRUE(block);
  EXPECT_GE(ProcessBudget().bytes_used(), before + block.bytes);
  pool.Free(block.data, block.bytes);
  pool.Trim();
  EXPECT_EQ(ProcessBudget().bytes_used(), before);
}

TEST(PagePool, ManyPoolsOneAfterAnother) {
  for (size_t i = 0; i < 3 * PagePool::kPoolsMax; ++i) {
    PagePool pool(TestOptions());
    const Block block = pool.TryAllocate(1);
    ASSERT_TRUE(block);
    EXPECT_EQ(PagePool::OwnerOf(block.data), &pool);
    pool.Free(block.data, block.bytes);
  }
}

// A system that has no more memory than the budget would kill the process: blocks of one size that
// lie free may not stay when another size takes all that the budget allows.
TEST(PagePool, WhatLiesFreeStaysWithinTheBudget) {
  Budget budget("process_bytes_max", 16 * kMiB);
  PagePoolOptions options = TestOptions();
  options.budget = &budget;
  PagePool pool(options);
  for (const size_t bytes : {64 * kKiB, 512 * kKiB, 2 * kMiB, 64 * kKiB, 16 * kMiB, 128 * kKiB}) {
    std::vector<Block> blocks;
    while (const Block block = pool.TryAllocate(bytes)) {
      blocks.push_back(block);
      const PagePoolStats stats = pool.stats();
      EXPECT_LE(stats.bytes_in_use + stats.bytes_thread_cached + stats.bytes_retained, 16 * kMiB);
    }
    EXPECT_EQ(blocks.size() * bytes, 16 * kMiB);
    for (const Block& block : blocks) pool.Free(block.data, block.bytes);
  }
}

class PagePoolDeathTest : public testing::Test {
 protected:
  void TearDown() override {
    SafetyCount(HasFailure() ? "detectors_silent" : "detectors_fired", 1);
  }

  PagePool pool_{TestOptions()};
};

TEST_F(PagePoolDeathTest, FreeOfAForeignAddress) {
  int elsewhere = 0;
  EXPECT_DEATH(pool_.Free(&elsewhere, 1), "this address is not a block of this pool");
  EXPECT_DEATH(pool_.Free(nullptr, 1), "this address is not a block of this pool");
}

TEST_F(PagePoolDeathTest, FreeToAnotherPool) {
  PagePool other(TestOptions());
  const Block block = other.TryAllocate(1);
  EXPECT_DEATH(pool_.Free(block.data, block.bytes), "this address is not a block of this pool");
  other.Free(block.data, block.bytes);
}

TEST_F(PagePoolDeathTest, FreeOfTheInsideOfABlock) {
  for (const size_t bytes : {64 * kKiB, 4 * kMiB, 40 * kMiB}) {
    const Block block = pool_.TryAllocate(bytes);
    EXPECT_DEATH(pool_.Free(static_cast<char*>(block.data) + 4096, bytes),
                 "not the start of a block of that size");
    pool_.Free(block.data, bytes);
  }
}

TEST_F(PagePoolDeathTest, FreeWithAnotherSize) {
  const Block block = pool_.TryAllocate(64 * kKiB);
  for (const size_t bytes : {128 * kKiB, 40 * kMiB}) {
    EXPECT_DEATH(pool_.Free(block.data, bytes),
                 "free what was allocated, with the size it was allocated with");
  }
  pool_.Free(block.data, block.bytes);
}

TEST_F(PagePoolDeathTest, FreeOfABlockWhoseRegionIsGone) {
  const Block block = pool_.TryAllocate(40 * kMiB);
  pool_.Free(block.data, block.bytes);
  EXPECT_DEATH(pool_.Free(block.data, block.bytes), "this address is not a block of this pool");
}

TEST(PagePoolLeakDeathTest, DestructionWithABlockOutside) {
  EXPECT_DEATH(
      {
        PagePool pool(TestOptions());
        static_cast<void>(pool.TryAllocate(1));
      },
      "a page pool is destroyed while blocks of it are in use; end every scope, arena and message");
}

TEST(PagePoolLeakDeathTest, MoreThan64Pools) {
  EXPECT_DEATH(
      {
        std::vector<std::unique_ptr<PagePool>> pools;
        for (size_t i = 0; i <= PagePool::kPoolsMax; ++i) {
          pools.push_back(std::make_unique<PagePool>(TestOptions()));
        }
      },
      "more than 64 page pools at once; share pools between methods instead");
}

}  // namespace
}  // namespace harena
