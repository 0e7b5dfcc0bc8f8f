// What a pool gives back as time passes, on a clock that the tests turn.
#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"

namespace harena {
namespace {

constexpr uint64_t kPeriodMs = 1000;  // TestOptions().decay_after

// One page at a time through the central list, so that each test sees every block.
PagePoolOptions NoThreadCache() {
  PagePoolOptions options = TestOptions();
  options.thread_cache_bytes_max = 0;
  return options;
}

std::vector<Block> AllocateMany(PagePool& pool, size_t count, size_t bytes = 1) {
  std::vector<Block> blocks;
  for (size_t i = 0; i < count; ++i) blocks.push_back(pool.TryAllocate(bytes));
  return blocks;
}

void FreeAll(PagePool& pool, const std::vector<Block>& blocks) {
  for (const Block& block : blocks) pool.Free(block.data, block.bytes);
}

TEST(Decay, ColdBlocksGoAndHotBlocksStay) {
  PagePool pool(NoThreadCache());
  FreeAll(pool, AllocateMany(pool, 40));
  for (int i = 0; i < 30; ++i) {  // three periods of traffic that needs four
    test_now_ms += kPeriodMs / 10;
    FreeAll(pool, AllocateMany(pool, 4));
    pool.Decay();
  }
  EXPECT_EQ(pool.stats().bytes_retained, 4 * 64 * kKiB);
  EXPECT_EQ(pool.stats().bytes_decommitted, 36 * 64 * kKiB);  // the hot four never went
  EXPECT_TRUE(AddsUp(pool.stats()));
}

TEST(Decay, HappensBySimpleUseAfterABurst) {
  PagePool pool(TestOptions());
  FreeAll(pool, AllocateMany(pool, 400));
  FreeAll(pool, AllocateMany(pool, 20, kMiB));
  ASSERT_GT(pool.stats().bytes_retained, 20 * kMiB);
  for (int i = 0; i < 300; ++i) {  // nobody calls Decay()
    test_now_ms += kPeriodMs / 100;
    for (int j = 0; j < 16; ++j) FreeAll(pool, AllocateMany(pool, 2));
  }
  const PagePoolStats stats = pool.stats();
  EXPECT_EQ(stats.bytes_retained, 0u);  // this traffic lives in the thread's own cache
  EXPECT_LE(stats.bytes_thread_cached, pool.options().thread_cache_bytes_max);
  EXPECT_LE(stats.bytes_mapped, 8 * kMiB);
  EXPECT_TRUE(AddsUp(stats));
}

TEST(Decay, NothingStaysForMoreThanOneAndAHalfPeriods) {
  for (const uint64_t offset_ms : {0, 100, 499, 500, 501, 700, 999}) {
    PagePool pool(TestOptions());
    test_now_ms += offset_ms;
    pool.Decay();
    FreeAll(pool, AllocateMany(pool, 100));  // some in this thread's cache, some in the centre
    uint64_t passed_ms = 0;
    for (; pool.stats().bytes_mapped != 0 && passed_ms < 10 * kPeriodMs; passed_ms += 10) {
      test_now_ms += 10;
      pool.Decay();
    }
    EXPECT_LE(passed_ms, kPeriodMs * 3 / 2 + 3 * 10) << offset_ms;
    EXPECT_GE(passed_ms, kPeriodMs / 2) << offset_ms;
  }
}

TEST(Decay, FreshBlocksStay) {
  PagePool pool(NoThreadCache());
  FreeAll(pool, AllocateMany(pool, 10));
  test_now_ms += kPeriodMs - 1;
  EXPECT_EQ(pool.Decay(), 0u);
  EXPECT_EQ(pool.stats().bytes_retained, 10 * 64 * kKiB);
}

TEST(Decay, EmptiesTheCacheOfAThreadThatIsIdleAndSparesABusyOne) {
  PagePool pool(TestOptions());
  Worker idle;
  Worker busy;
  const auto use = [&pool] { FreeAll(pool, AllocateMany(pool, 8)); };
  idle.Run(use);
  busy.Run(use);
  for (int i = 0; i < 30; ++i) {
    test_now_ms += kPeriodMs / 10;
    busy.Run(use);
    pool.Decay();
  }
  EXPECT_EQ(pool.stats().bytes_thread_cached, 8 * 64 * kKiB);
  EXPECT_EQ(pool.stats().bytes_retained, 0u);
}

// A sweep adds blocks that are older than those in the central list; behind these they stayed on.
TEST(Decay, SweptBlocksDoNotHideBehindYoungerOnes) {
  PagePool pool(TestOptions());
  Worker other;
  other.Run([&pool] { FreeAll(pool, AllocateMany(pool, 8)); });
  test_now_ms += 600;
  pool.Decay();  // the worker was busy since the start: nothing is swept yet
  test_now_ms += 500;
  const std::vector<Block> young = AllocateMany(pool, 2, 4 * kMiB);
  std::vector<Block> pages = AllocateMany(pool, 64);
  FreeAll(pool, pages);  // part of them lies in the central list now, 500 ms younger
  FreeAll(pool, young);
  pool.Decay();  // sweeps the worker's blocks in
  test_now_ms += 600;
  const size_t before = pool.stats().bytes_decommitted;
  pool.Decay();
  EXPECT_EQ(pool.stats().bytes_decommitted - before, 8 * 64 * kKiB);
}

TEST(Decay, RetentionMayChangeWhileThePoolIsUsed) {
  PagePool pool(NoThreadCache());
  FreeAll(pool, AllocateMany(pool, 40));
  pool.SetRetention({.retained_bytes_max = 8 * 64 * kKiB, .decay_after = {}});
  EXPECT_EQ(pool.retention().retained_bytes_max, 8 * 64 * kKiB);
  FreeAll(pool, AllocateMany(pool, 1));
  EXPECT_EQ(pool.stats().bytes_retained, 8 * 64 * kKiB);  // what was beyond it went at once
  test_now_ms += 10 * kPeriodMs;
  EXPECT_EQ(pool.Decay(), 0u);  // zero keeps it
  pool.SetRetention({.retained_bytes_max = kMiB, .decay_after = std::chrono::milliseconds(100)});
  test_now_ms += 101;
  EXPECT_EQ(pool.Decay(), 8 * 64 * kKiB);
}

TEST(Decay, ZeroKeepsFreeMemoryForEver) {
  PagePoolOptions options = NoThreadCache();
  options.decay_after = std::chrono::milliseconds(0);
  PagePool pool(options);
  FreeAll(pool, AllocateMany(pool, 10));
  test_now_ms += 1000 * kPeriodMs;
  EXPECT_EQ(pool.Decay(), 0u);
  FreeAll(pool, AllocateMany(pool, 1));
  EXPECT_EQ(pool.stats().bytes_retained, 10 * 64 * kKiB);
  EXPECT_EQ(pool.Trim(), 10 * 64 * kKiB);
}

TEST(Decay, AClockThatJumpsForwardAgesEverything) {
  PagePool pool(NoThreadCache());
  FreeAll(pool, AllocateMany(pool, 10));
  test_now_ms += uint64_t{1} << 40;
  EXPECT_EQ(pool.Decay(), 10 * 64 * kKiB);
  FreeAll(pool, AllocateMany(pool, 10));
  EXPECT_EQ(pool.Decay(), 0u);
  test_now_ms -= uint64_t{1} << 40;
}

TEST(Decay, AClockThatJumpsBackDoesNotKeepMemoryForEver) {
  PagePool pool(NoThreadCache());
  FreeAll(pool, AllocateMany(pool, 10));  // stamped with a time that is now far in the future
  test_now_ms -= 900'000;
  for (int i = 0; i < 20; ++i) {
    pool.Decay();
    test_now_ms += kPeriodMs / 10;
  }
  EXPECT_EQ(pool.stats().bytes_retained, 0u);
  FreeAll(pool, AllocateMany(pool, 10));
  EXPECT_EQ(pool.Decay(), 0u);  // and time goes on as usual
  test_now_ms += 2 * kPeriodMs;
  EXPECT_EQ(pool.Decay(), 10 * 64 * kKiB);
  test_now_ms += 900'000;
}

// Two threads read the clock in one order and compare it in the other: that is no jump.
TEST(Decay, AClockThatIsALittleBehindIsNotTakenForTimePassed) {
  PagePool pool(TestOptions());
  FreeAll(pool, AllocateMany(pool, 10));
  for (int i = 0; i < 3; ++i) {
    test_now_ms -= 1;
    EXPECT_EQ(pool.Decay(), 0u);
    EXPECT_EQ(pool.stats().bytes_thread_cached, 10 * 64 * kKiB);  // no sweep either
  }
  test_now_ms += 3;
}

TEST(Decay, AnEarlyClockDoesNotWrapAround) {
  const uint64_t now_ms = test_now_ms.exchange(5);
  {
    PagePool pool(NoThreadCache());
    FreeAll(pool, AllocateMany(pool, 10));
    test_now_ms = 600;
    EXPECT_EQ(pool.Decay(), 0u);
    EXPECT_EQ(pool.stats().bytes_retained, 10 * 64 * kKiB);
  }
  test_now_ms = now_ms;
}

TEST(Decay, TheRealClockAges) {
  PagePoolOptions options;
  options.decay_after = std::chrono::milliseconds(20);
  options.thread_cache_bytes_max = 0;
  options.budget = nullptr;
  PagePool pool(options);
  FreeAll(pool, AllocateMany(pool, 10));
  size_t given_bytes = 0;
  for (int i = 0; i < 1000 && given_bytes == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    given_bytes = pool.Decay();
  }
  EXPECT_EQ(given_bytes, 10 * 64 * kKiB);
}

}  // namespace
}  // namespace harena
