// Races by name, for ThreadSanitizer; each runs for a moment in every build.
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"
#include "harena/mem/test_traffic.h"

namespace harena {
namespace {

TEST(PagePoolRace, PageReturnedOnAnotherThread) {
  FailingPageSource source;
  {
    PagePool pool(RestlessOptions(), source);
    std::mutex mutex;
    std::vector<Block> on_the_way;
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        for (uint64_t round = 0; !stop.load(); ++round) {
          const Block block =
              pool.TryAllocate((4 * kKiB) << ((round + static_cast<uint64_t>(i)) % 4));
          Stamp(block.data, block.bytes, reinterpret_cast<uintptr_t>(block.data));
          std::lock_guard lock(mutex);
          if (on_the_way.size() < 200) {
            on_the_way.push_back(block);
          } else {
            pool.Free(block.data, block.bytes);
          }
        }
      });
      threads.emplace_back([&] {
        for (;;) {
          Block block;
          {
            std::lock_guard lock(mutex);
            if (on_the_way.empty() && stop.load()) return;
            if (on_the_way.empty()) continue;
            block = on_the_way.back();
            on_the_way.pop_back();
          }
          EXPECT_TRUE(HasStamp(block.data, block.bytes, reinterpret_cast<uintptr_t>(block.data)));
          pool.Free(block.data, block.bytes);
        }
      });
    }
    std::this_thread::sleep_for(kDuration);
    stop.store(true);
    for (std::thread& thread : threads) thread.join();
    for (const Block& block : on_the_way) pool.Free(block.data, block.bytes);
    EXPECT_EQ(pool.stats().bytes_in_use, 0u);
    EXPECT_TRUE(AddsUp(pool.stats()));
  }
  EXPECT_EQ(source.mapped_bytes(), 0);
}

TEST(PagePoolRace, ThreadExitDuringDecay) {
  PagePool pool(RestlessOptions());
  std::atomic<bool> stop{false};
  std::thread decaying([&] {
    while (!stop.load()) pool.Decay();
  });
  uint64_t round = 0;
  for (const Deadline deadline; !deadline.Passed();) {
    std::thread first([&] { UseOnce(pool, ++round); });
    first.join();
    std::thread second([&] { UseOnce(pool, ++round); });
    second.join();
  }
  stop.store(true);
  decaying.join();
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  EXPECT_EQ(pool.stats().bytes_thread_cached, 0u);
  EXPECT_TRUE(AddsUp(pool.stats()));
}

// Blocks come back while the thread that took them, and whose cache knows them, goes away.
TEST(PagePoolRace, PagesReturnedOnAnotherThreadWhileTheirsEnds) {
  FailingPageSource source;
  {
    PagePool pool(RestlessOptions(), source);
    uint64_t round = 0;
    for (const Deadline deadline; !deadline.Passed(); ++round) {
      std::vector<Block> blocks(40);
      std::atomic<size_t> ready{0};
      std::thread taking([&] {
        for (Block& block : blocks) {
          block = pool.TryAllocate((4 * kKiB) << (round % 4));
          Stamp(block.data, block.bytes, round);
          ready.fetch_add(1, std::memory_order_release);
        }
        UseOnce(pool, round);
      });
      for (size_t i = 0; i < blocks.size(); ++i) {
        while (ready.load(std::memory_order_acquire) <= i) std::this_thread::yield();
        ASSERT_TRUE(HasStamp(blocks[i].data, blocks[i].bytes, round));
        pool.Free(blocks[i].data, blocks[i].bytes);
      }
      taking.join();
    }
    EXPECT_EQ(pool.stats().bytes_in_use, 0u);
    EXPECT_TRUE(AddsUp(pool.stats()));
  }
  EXPECT_EQ(source.mapped_bytes(), 0);
}

TEST(PagePoolRace, DecayDuringTraffic) {
  PagePool pool(RestlessOptions());
  DuringTraffic(pool, [&] { pool.Decay(); });
  // The traffic's own calls may always have been first.
  EXPECT_GT(pool.stats().bytes_decommitted, 0u);
}

TEST(PagePoolRace, StatsDuringTraffic) {
  PagePool pool(RestlessOptions());
  const size_t bytes_max = kThreads * 24 * 64 * kKiB;
  DuringTraffic(pool, [&] {
    const PagePoolStats stats = pool.stats();
    EXPECT_LE(stats.bytes_thread_cached, kThreads * pool.options().thread_cache_bytes_max);
    // Each counter is of another moment, but none may be nonsense.
    EXPECT_LE(stats.bytes_in_use, 4 * bytes_max);
    EXPECT_LE(stats.bytes_mapped, size_t{1} << 30);
  });
}

TEST(PagePoolRace, TrimDuringTraffic) {
  PagePool pool(RestlessOptions());
  DuringTraffic(pool, [&] { pool.Trim(); });
}

TEST(PagePoolRace, SweepForTheBudgetDuringTraffic) {
  Budget budget("process_bytes_max", kThreads * 24 * 64 * kKiB);
  PagePoolOptions options = RestlessOptions();
  options.budget = &budget;
  {
    PagePool pool(options);
    DuringTraffic(pool, [&] {
      // More than there is: sweeps everybody's cache, and is refused.
      EXPECT_FALSE(pool.TryAllocate(budget.bytes_max() + 1));
    });
  }
  EXPECT_EQ(budget.bytes_used(), 0u);
}

TEST(PagePoolRace, PoolDestroyedAfterThreadsThatUsedIt) {
  Worker first;
  Worker second;
  FailingPageSource source;
  for (const Deadline deadline; !deadline.Passed();) {
    auto pool = std::make_unique<PagePool>(RestlessOptions(), source);
    first.Run([&] { UseOnce(*pool, 1); });
    second.Run([&] { UseOnce(*pool, 2); });
    // These end while the pool does: their caches are given back by one or the other.
    auto ending = std::make_unique<Worker>();
    ending->Run([&] { UseOnce(*pool, 3); });
    std::thread reaper([&ending] { ending.reset(); });
    pool.reset();
    reaper.join();
    ASSERT_EQ(source.mapped_bytes(), 0);
  }
}

}  // namespace
}  // namespace harena
