// Every allocation of an arena failing in turn, and budgets that are reached.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/arena.h"
#include "harena/mem/failing_page_source.h"
#include "harena/mem/test_pool.h"

namespace harena {
namespace {

struct Counted {
  explicit Counted(int& alive) : alive(&alive) { ++alive; }
  ~Counted() { --*alive; }
  int* alive;
  char body[3000] = {};
};

// Small, large and object allocations; counts the refusals and survives them.
int RunScenario(Arena& arena, int& alive) {
  int refused = 0;
  std::vector<std::pair<void*, size_t>> taken;
  for (int i = 0; i < 200; ++i) {
    const size_t bytes = i % 50 == 49 ? 3 * kMiB : (i % 10 == 9 ? 100 * kKiB : 2000);
    Refusal refusal;
    if (void* data = arena.TryAllocate(bytes, 16, &refusal)) {
      Stamp(data, bytes, taken.size());
      taken.emplace_back(data, bytes);
    } else {
      EXPECT_FALSE(refusal.Message().empty());
      ++refused;
    }
    try {
      arena.Create<Counted>(alive);
    } catch (const BudgetExceeded& error) {
      EXPECT_EQ(error.refusal().Message(), error.what());
      ++refused;
    }
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    EXPECT_TRUE(HasStamp(taken[i].first, taken[i].second, i));
  }
  return refused;
}

TEST(ArenaFailure, EveryMapFailingInTurn) {
  int refused = 1;
  int64_t successes = 0;
  for (; refused != 0; ++successes) {
    ASSERT_LT(successes, 1000) << "the scenario never succeeds";
    FailingPageSource source;
    Budget budget("request_bytes_max");
    int alive = 0;
    {
      PagePool pool(TestOptions(), source);
      Arena arena({.pool = &pool, .budget = &budget});
      source.FailAfter(successes);
      refused = RunScenario(arena, alive);
      EXPECT_EQ(budget.bytes_used(), arena.stats().bytes_in_blocks);
      EXPECT_EQ(static_cast<size_t>(alive), arena.stats().cleanups);
      source.Heal();
      EXPECT_EQ(RunScenario(arena, alive), 0);
      arena.Reset(Retain::kNothing);
      EXPECT_EQ(alive, 0);
      EXPECT_EQ(pool.stats().bytes_in_use, 0u);
    }
    EXPECT_EQ(budget.bytes_used(), 0u);
    EXPECT_EQ(source.mapped_bytes(), 0);
  }
  EXPECT_GT(successes, 3);
}

// Each limit in turn stops the scenario at another place.
TEST(ArenaFailure, EveryBudgetStopsItCleanlyAndWithinAPage) {
  PagePool pool(TestOptions());
  for (size_t bytes_max = 0; bytes_max < 12 * kMiB; bytes_max += 700'001) {
    Budget budget("request_bytes_max", bytes_max);
    int alive = 0;
    {
      Arena arena({.pool = &pool, .budget = &budget});
      EXPECT_GT(RunScenario(arena, alive), 0) << bytes_max;
      EXPECT_LE(budget.bytes_used(), bytes_max + 64 * kKiB);
      EXPECT_LE(arena.bytes_used(), bytes_max);
      // A refusal of something large leaves what is small possible.
      EXPECT_EQ(arena.TryAllocate(bytes_max + 1), nullptr);
      arena.Reset();
      if (bytes_max > 200 * kKiB) {
        EXPECT_NE(arena.TryAllocate(1000), nullptr);
      }
    }
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(budget.bytes_used(), 0u);
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(ArenaFailure, AlmostAllOfTheBudgetCanBeUsed) {
  PagePool pool(TestOptions());
  Budget budget("request_bytes_max", 4 * kMiB);
  Arena arena({.pool = &pool, .budget = &budget});
  size_t got = 0;
  while (arena.TryAllocate(1000) != nullptr) got += 1000;
  EXPECT_GE(got, 4 * kMiB * 9 / 10);
  EXPECT_LE(budget.bytes_used(), 4 * kMiB + 64 * kKiB);
}

TEST(ArenaFailure, TheRefusalNamesTheLimit) {
  PagePool pool(TestOptions());
  Budget budget("request_bytes_max", 100 * kKiB);
  Arena arena({.pool = &pool, .budget = &budget});
  Refusal refusal;
  EXPECT_EQ(arena.TryAllocate(kMiB, 16, &refusal), nullptr);
  EXPECT_STREQ(refusal.limit, "request_bytes_max");
  EXPECT_EQ(refusal.bytes_max, 100 * kKiB);
  EXPECT_GE(refusal.bytes_wanted, kMiB);
  try {
    static_cast<void>(arena.Allocate(kMiB));
    FAIL() << "nothing was thrown";
  } catch (const std::bad_alloc& error) {
    EXPECT_NE(std::string(error.what()).find("request_bytes_max is 102400 bytes"),
              std::string::npos);
  }
  EXPECT_EQ(budget.bytes_used(), 0u);
}

TEST(ArenaFailure, TheProcessBudgetStopsAnArenaToo) {
  Budget process("process_bytes_max", kMiB);
  PagePoolOptions options = TestOptions();
  options.budget = &process;
  PagePool pool(options);
  Budget request("request_bytes_max", 64 * kMiB);
  Arena arena({.pool = &pool, .budget = &request});
  Refusal refusal;
  EXPECT_EQ(arena.TryAllocate(2 * kMiB, 16, &refusal), nullptr);
  EXPECT_STREQ(refusal.limit, "process_bytes_max");
  EXPECT_EQ(request.bytes_used(), 0u);
  EXPECT_NE(arena.TryAllocate(kMiB / 2), nullptr);
}

TEST(ArenaFailure, SizesNoSystemHas) {
  PagePool pool(TestOptions());
  Arena arena({.pool = &pool});
  for (const size_t bytes :
       {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 4096, SIZE_MAX / 2, SIZE_MAX / 4, size_t{1} << 50}) {
    for (const size_t alignment : {1, 16, 4096}) {
      EXPECT_EQ(arena.TryAllocate(bytes, alignment), nullptr);
      EXPECT_THROW(static_cast<void>(arena.Allocate(bytes, alignment)), std::bad_alloc);
    }
    EXPECT_NE(arena.TryAllocate(8), nullptr);
  }
}

}  // namespace
}  // namespace harena
