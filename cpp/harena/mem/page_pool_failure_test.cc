// Every call of the page source failing in turn, and memory that the system does not take back.
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"

namespace harena {
namespace {

// Blocks of several classes and some too large for any; true when none was refused.
bool RunScenario(PagePool& pool) {
  bool complete = true;
  std::vector<Block> blocks;
  for (int round = 0; round < 3; ++round) {
    for (const size_t bytes : {64 * kKiB, 128 * kKiB, 3 * kMiB, 40 * kMiB, 64 * kKiB}) {
      for (int i = 0; i < 10; ++i) {
        Refusal refusal;
        const Block block = pool.TryAllocate(bytes, &refusal);
        if (block) {
          Stamp(block.data, 8, blocks.size());
          blocks.push_back(block);
        } else {
          EXPECT_STREQ(refusal.limit, "memory");
          EXPECT_GE(refusal.bytes_wanted, bytes);
          EXPECT_EQ(refusal.bytes_max, kUnlimitedBytes);
          complete = false;
        }
        EXPECT_TRUE(AddsUp(pool.stats()));
      }
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_TRUE(HasStamp(blocks[i].data, 8, i));
      pool.Free(blocks[i].data, blocks[i].bytes);
    }
    blocks.clear();
    if (round == 1) pool.Trim();
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  return complete;
}

TEST(PagePoolFailure, EveryMapFailingInTurn) {
  bool complete = false;
  int64_t successes = 0;
  for (; !complete; ++successes) {
    ASSERT_LT(successes, 1000) << "the scenario never succeeds";
    FailingPageSource source;
    Budget budget("process_bytes_max");
    PagePoolOptions options = TestOptions();
    options.budget = &budget;
    {
      PagePool pool(options, source);
      source.FailAfter(successes);
      complete = RunScenario(pool);
      EXPECT_EQ(complete, source.refused() == 0);
      EXPECT_EQ(pool.stats().refusals, static_cast<uint64_t>(source.refused()));
      source.Heal();
      EXPECT_TRUE(RunScenario(pool)) << "after " << successes;
    }
    EXPECT_EQ(source.mapped_bytes(), 0);
    EXPECT_EQ(budget.bytes_used(), 0u);
  }
  EXPECT_GT(successes, 50);
}

TEST(PagePoolFailure, WithoutThreadCaches) {
  FailingPageSource source;
  PagePoolOptions options = TestOptions();
  options.thread_cache_bytes_max = 0;
  {
    PagePool pool(options, source);
    source.FailAfter(0);
    EXPECT_FALSE(pool.TryAllocate(1));
    source.FailAfter(1);
    std::vector<Block> blocks;
    while (const Block block = pool.TryAllocate(1)) blocks.push_back(block);
    EXPECT_EQ(blocks.size(), 32u);  // one region
    for (const Block& block : blocks) pool.Free(block.data, block.bytes);
  }
  EXPECT_EQ(source.mapped_bytes(), 0);
}

TEST(PagePoolFailure, MemoryThatOtherThreadsKeepIsFoundBeforeRefusing) {
  FailingPageSource source;
  PagePool pool(TestOptions(), source);
  Worker other;
  other.Run([&pool] {
    std::vector<Block> blocks;
    for (int i = 0; i < 32; ++i) blocks.push_back(pool.TryAllocate(1));
    for (const Block& block : blocks) pool.Free(block.data, block.bytes);
  });
  source.FailAfter(0);
  std::vector<Block> blocks;
  while (const Block block = pool.TryAllocate(1)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), 32u);
  for (const Block& block : blocks) pool.Free(block.data, block.bytes);
}

TEST(PagePoolFailure, MemoryThatTheSystemDoesNotTakeBackStaysUsable) {
  FailingPageSource source;
  {
    PagePoolOptions options = TestOptions();
    options.thread_cache_bytes_max = 0;
    options.retained_bytes_max = kMiB;
    PagePool pool(options, source);
    source.FailDecommit(true);
    std::vector<Block> blocks;
    for (int i = 0; i < 64; ++i) blocks.push_back(pool.TryAllocate(1));
    for (const Block& block : blocks) pool.Free(block.data, block.bytes);
    EXPECT_EQ(pool.stats().bytes_retained, 4 * kMiB);  // the bound cannot be held
    test_now_ms += 10'000;
    EXPECT_EQ(pool.Decay(), 0u);
    EXPECT_EQ(pool.Trim(), 0u);
    EXPECT_EQ(pool.stats().bytes_retained, 4 * kMiB);
    EXPECT_TRUE(AddsUp(pool.stats()));
    blocks.clear();
    for (int i = 0; i < 64; ++i) blocks.push_back(pool.TryAllocate(1));
    EXPECT_EQ(pool.stats().regions_mapped, 2u);  // recycled, not mapped anew
    source.FailDecommit(false);
    for (const Block& block : blocks) pool.Free(block.data, block.bytes);
    EXPECT_LE(pool.stats().bytes_retained, kMiB);
    source.FailDecommit(true);
  }
  EXPECT_EQ(source.mapped_bytes(), 0);  // a dying pool unmaps what it could not decommit
}

}  // namespace
}  // namespace harena
