// The thread caches of a pool: their bound, how they come back, and pools that die before threads.
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"

namespace harena {
namespace {

void FreeAll(PagePool& pool, std::vector<Block>& blocks) {
  for (const Block& block : blocks) pool.Free(block.data, block.bytes);
  blocks.clear();
}

std::vector<Block> AllocateMany(PagePool& pool, size_t count, size_t bytes) {
  std::vector<Block> blocks;
  for (size_t i = 0; i < count; ++i) blocks.push_back(pool.TryAllocate(bytes));
  return blocks;
}

TEST(ThreadCache, KeepsNoMoreThanItsBound) {
  PagePoolOptions options = TestOptions();
  options.thread_cache_bytes_max = kMiB;
  PagePool pool(options);
  for (const size_t bytes : {64 * kKiB, 128 * kKiB, 512 * kKiB, kMiB, 2 * kMiB, 64 * kKiB}) {
    std::vector<Block> blocks = AllocateMany(pool, 40, bytes);
    for (const Block& block : blocks) {
      pool.Free(block.data, block.bytes);
      ASSERT_LE(pool.stats().bytes_thread_cached, kMiB);
    }
    ASSERT_TRUE(AddsUp(pool.stats()));
  }
  EXPECT_GT(pool.stats().bytes_thread_cached, 0u);
}

// A refill took a batch without looking at what the other sizes had filled already.
TEST(ThreadCache, RefillKeepsTheBoundToo) {
  PagePoolOptions options = TestOptions();
  options.page_bytes = 4 * kKiB;
  options.thread_cache_bytes_max = 256 * kKiB;
  PagePool pool(options);
  const std::vector<size_t> sizes = {4 * kKiB, 8 * kKiB, 16 * kKiB, 32 * kKiB};
  std::vector<std::vector<Block>> held;
  for (const size_t bytes : sizes) held.push_back(AllocateMany(pool, 100, bytes));
  for (auto& blocks : held) FreeAll(pool, blocks);  // the central list is full of each size
  for (int round = 0; round < 20; ++round) {
    for (const size_t bytes : sizes) {
      const Block block = pool.TryAllocate(bytes);
      ASSERT_LE(pool.stats().bytes_thread_cached, options.thread_cache_bytes_max);
      held[0].push_back(block);
    }
  }
  FreeAll(pool, held[0]);
  EXPECT_TRUE(AddsUp(pool.stats()));
}

TEST(ThreadCache, ZeroBytesTurnsItOff) {
  PagePoolOptions options = TestOptions();
  options.thread_cache_bytes_max = 0;
  PagePool pool(options);
  std::vector<Block> blocks = AllocateMany(pool, 3, 1);
  FreeAll(pool, blocks);
  EXPECT_EQ(pool.stats().bytes_thread_cached, 0u);
  EXPECT_EQ(pool.stats().bytes_retained, 3 * 64 * kKiB);
}

TEST(ThreadCache, AThreadThatEndsReturnsItsBlocks) {
  PagePool pool(TestOptions());
  std::thread([&pool] {
    std::vector<Block> blocks = AllocateMany(pool, 10, 1);
    FreeAll(pool, blocks);
    EXPECT_GT(pool.stats().bytes_thread_cached, 0u);
  }).join();
  const PagePoolStats stats = pool.stats();
  EXPECT_EQ(stats.bytes_thread_cached, 0u);
  EXPECT_EQ(stats.bytes_in_use, 0u);
  EXPECT_EQ(stats.bytes_retained, 10 * 64 * kKiB);
  EXPECT_EQ(stats.blocks_allocated, 10u);
  EXPECT_EQ(stats.blocks_freed, 10u);
}

TEST(ThreadCache, BlocksMayBeFreedByAThreadThatNeverAllocated) {
  PagePool pool(TestOptions());
  std::vector<Block> blocks = AllocateMany(pool, 100, 1);
  std::thread([&] { FreeAll(pool, blocks); }).join();
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  EXPECT_TRUE(AddsUp(pool.stats()));
}

// Frees a block when the thread's cache is gone already.
struct FreesAtThreadEnd {
  PagePool* pool = nullptr;
  Block block;
  ~FreesAtThreadEnd() {
    if (pool == nullptr) return;
    pool->Free(block.data, block.bytes);
    const Block another = pool->TryAllocate(1);
    EXPECT_TRUE(another);
    pool->Free(another.data, another.bytes);
  }
};

TEST(ThreadCache, ThreadLocalObjectsMayUseThePoolAfterItsCacheIsGone) {
  PagePool pool(TestOptions());
  std::thread([&pool] {
    thread_local FreesAtThreadEnd object;  // made before the cache, so destroyed after it
    object.pool = &pool;
    object.block = pool.TryAllocate(1);
  }).join();
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  EXPECT_EQ(pool.stats().bytes_thread_cached, 0u);
  EXPECT_TRUE(AddsUp(pool.stats()));
}

TEST(ThreadCache, IsSweptBeforeTheBudgetRefuses) {
  Budget budget("process_bytes_max", 8 * 64 * kKiB);
  PagePoolOptions options = TestOptions();
  options.budget = &budget;
  PagePool pool(options);
  Worker other;
  other.Run([&pool] {
    std::vector<Block> blocks = AllocateMany(pool, 8, 1);
    FreeAll(pool, blocks);
  });
  EXPECT_EQ(pool.stats().bytes_thread_cached, 8 * 64 * kKiB);
  EXPECT_EQ(budget.bytes_used(), 8 * 64 * kKiB);
  std::vector<Block> blocks = AllocateMany(pool, 8, 1);
  for (const Block& block : blocks) EXPECT_TRUE(block);
  EXPECT_EQ(budget.bytes_used(), 8 * 64 * kKiB);
  FreeAll(pool, blocks);
  const Block unpooled = pool.TryAllocate(40 * kMiB);
  EXPECT_FALSE(unpooled);
  EXPECT_EQ(budget.bytes_used(), 0u);  // swept for it, though in vain
}

TEST(ThreadCache, BudgetRefusalThenRecovery) {
  Budget budget("process_bytes_max", 4 * 64 * kKiB);
  PagePoolOptions options = TestOptions();
  options.budget = &budget;
  {
    PagePool pool(options);
    std::vector<Block> blocks = AllocateMany(pool, 4, 1);
    Refusal refusal;
    EXPECT_FALSE(pool.TryAllocate(1, &refusal));
    EXPECT_STREQ(refusal.limit, "process_bytes_max");
    EXPECT_EQ(refusal.bytes_max, 4 * 64 * kKiB);
    EXPECT_EQ(refusal.bytes_used, 4 * 64 * kKiB);
    EXPECT_EQ(refusal.bytes_wanted, 64 * kKiB);
    EXPECT_FALSE(pool.TryAllocate(1));  // nobody has to ask why
    EXPECT_FALSE(pool.TryAllocate(128 * kKiB, &refusal));
    EXPECT_FALSE(pool.TryAllocate(40 * kMiB, &refusal));
    EXPECT_STREQ(refusal.limit, "process_bytes_max");
    EXPECT_EQ(budget.bytes_used(), 4 * 64 * kKiB);
    pool.Free(blocks.back().data, blocks.back().bytes);
    blocks.back() = pool.TryAllocate(1, &refusal);
    EXPECT_TRUE(blocks.back());
    FreeAll(pool, blocks);
    const Block larger = pool.TryAllocate(128 * kKiB);  // the cached pages make room
    EXPECT_TRUE(larger);
    pool.Free(larger.data, larger.bytes);
  }
  EXPECT_EQ(budget.bytes_used(), 0u);
}

TEST(ThreadCache, TheBudgetIsChargedForWhatIsOutsideTheCentralList) {
  Budget budget("process_bytes_max");
  PagePoolOptions options = TestOptions();
  options.budget = &budget;
  PagePool pool(options);
  std::vector<Block> blocks = AllocateMany(pool, 100, 1);
  const Block unpooled = pool.TryAllocate(40 * kMiB);
  EXPECT_EQ(budget.bytes_used(), 100 * 64 * kKiB + 40 * kMiB);
  FreeAll(pool, blocks);
  pool.Free(unpooled.data, unpooled.bytes);
  EXPECT_EQ(budget.bytes_used(), pool.stats().bytes_thread_cached);
  pool.Trim();
  EXPECT_EQ(budget.bytes_used(), 0u);
}

TEST(ThreadCache, TrimEmptiesTheCachesOfOtherThreads) {
  FailingPageSource source;
  PagePool pool(TestOptions(), source);
  Worker other;
  other.Run([&pool] {
    std::vector<Block> blocks = AllocateMany(pool, 8, 1);
    FreeAll(pool, blocks);
  });
  EXPECT_EQ(pool.Trim(), 8 * 64 * kKiB);
  EXPECT_EQ(source.mapped_bytes(), 0);
  other.Run([&pool] {
    const Block block = pool.TryAllocate(1);
    EXPECT_TRUE(block);
    pool.Free(block.data, block.bytes);
  });
}

TEST(ThreadCache, AThreadOutlivesAPoolAndUsesTheNextWithItsIndex) {
  Worker worker;
  FailingPageSource source;
  for (int round = 0; round < 5; ++round) {
    auto pool = std::make_unique<PagePool>(TestOptions(), source);
    worker.Run([&pool] {
      std::vector<Block> blocks = AllocateMany(*pool, 20, 1);
      for (const Block& block : blocks) EXPECT_EQ(PagePool::OwnerOf(block.data), pool.get());
      FreeAll(*pool, blocks);
      EXPECT_GT(pool->stats().bytes_thread_cached, 0u);
    });
    EXPECT_EQ(pool->stats().blocks_allocated, 20u);  // nothing of the pool before it
    pool.reset();
    EXPECT_EQ(source.mapped_bytes(), 0);
  }
}

// Whether the thread has a cache, never had one, or has the one of the pool before at that index.
TEST(ThreadCache, MovedBlocksAreCountedForTheirPoolAlone) {
  Worker with_cache;
  for (int round = 0; round < 3; ++round) {
    PagePool pool(TestOptions());
    std::vector<Block> blocks = AllocateMany(pool, 4, 1);
    pool.CountMoved(1);
    with_cache.Run([&] { pool.CountMoved(2); });
    with_cache.Run([&] {
      FreeAll(pool, blocks);
      pool.CountMoved(4);
    });
    std::thread([&] { pool.CountMoved(8); }).join();
    EXPECT_EQ(pool.stats().blocks_moved, 15u);
  }
}

TEST(ThreadCache, AThreadEndsAfterItsPoolDied) {
  std::optional<Worker> worker(std::in_place);
  std::optional<PagePool> pool(std::in_place, TestOptions());
  worker->Run([&pool] {
    std::vector<Block> blocks = AllocateMany(*pool, 20, 1);
    FreeAll(*pool, blocks);
  });
  pool.reset();
  PagePool successor(TestOptions());  // takes the index; the thread's cache is not its
  worker.reset();
  EXPECT_EQ(successor.stats().blocks_allocated, 0u);
  EXPECT_EQ(successor.stats().bytes_thread_cached, 0u);
}

}  // namespace
}  // namespace harena
