#include "harena/mem/background_decay.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"

namespace harena {
namespace {

using std::chrono::milliseconds;

bool Within(milliseconds limit, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

TEST(BackgroundDecay, CallsAgainAndAgainUntilItEnds) {
  std::atomic<int> calls{0};
  {
    BackgroundDecay decay(milliseconds(1), [&calls] { ++calls; });
    EXPECT_TRUE(Within(milliseconds(10'000), [&calls] { return calls.load() >= 3; }));
  }
  const int at_the_end = calls.load();
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(calls.load(), at_the_end);
}

TEST(BackgroundDecay, EndsAtOnceWhateverTheInterval) {
  const auto begin = std::chrono::steady_clock::now();
  {
    BackgroundDecay decay(std::chrono::hours(1), [] { ADD_FAILURE() << "called too early"; });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(BackgroundDecay, AnIdleProcessGivesItsMemoryBack) {
  PagePoolOptions options;
  options.decay_after = milliseconds(20);
  options.budget = nullptr;
  PagePool pool(options);
  BackgroundDecay decay(milliseconds(5), [&pool] { pool.Decay(); });
  std::vector<Block> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(pool.TryAllocate(1));
  for (const Block& block : blocks) pool.Free(block.data, block.bytes);
  // This thread's cache goes as well, although the thread does nothing any more.
  EXPECT_TRUE(Within(milliseconds(10'000), [&pool] { return pool.stats().bytes_mapped == 0; }));
}

TEST(BackgroundDecayDeathTest, NeedsAnInterval) {
  EXPECT_DEATH(BackgroundDecay(milliseconds(0), [] {}), "needs an interval above zero");
}

}  // namespace
}  // namespace harena
