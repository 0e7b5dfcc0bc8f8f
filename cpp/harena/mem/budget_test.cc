#include "harena/mem/budget.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace harena {
namespace {

using ::testing::HasSubstr;

TEST(Budget, TakesUpToItsLimitAndNotOneByteMore) {
  Budget budget("request_bytes_max", 100);
  EXPECT_TRUE(budget.TryCharge(60));
  EXPECT_TRUE(budget.TryCharge(40));
  EXPECT_FALSE(budget.TryCharge(1));
  EXPECT_TRUE(budget.TryCharge(0));
  EXPECT_EQ(budget.bytes_used(), 100u);
  EXPECT_EQ(budget.refusals(), 1u);
  budget.Refund(1);
  EXPECT_TRUE(budget.TryCharge(1));
}

TEST(Budget, SlackMayGoOverTheLimitOnlyAsFarAsItReaches) {
  Budget budget("request_bytes_max", 100);
  EXPECT_FALSE(budget.TryCharge(150, 49));
  EXPECT_TRUE(budget.TryCharge(150, 50));
  EXPECT_FALSE(budget.TryCharge(1, 50));
  EXPECT_EQ(budget.bytes_used(), 150u);
}

TEST(Budget, RefusalNamesTheLimitAndTheNumbers) {
  Budget budget("request_bytes_max", 1000, 250);
  Refusal refusal;
  EXPECT_FALSE(budget.TryCharge(800, 0, &refusal));
  EXPECT_STREQ(refusal.limit, "request_bytes_max");
  EXPECT_EQ(refusal.bytes_max, 1000u);
  EXPECT_EQ(refusal.bytes_used, 250u);
  EXPECT_EQ(refusal.bytes_wanted, 800u);
  EXPECT_EQ(refusal.Message(),
            "request_bytes_max is 1000 bytes: 250 are in use and 800 more were wanted");
  const BudgetExceeded error(refusal);
  EXPECT_EQ(refusal.Message(), error.what());
  EXPECT_EQ(error.refusal().bytes_wanted, 800u);
  EXPECT_THAT(Refusal{.bytes_wanted = 5}.Message(), HasSubstr("out of memory"));
}

TEST(Budget, HugeChargesDoNotWrapAround) {
  Budget budget("request_bytes_max", 100, 50);
  EXPECT_FALSE(budget.TryCharge(SIZE_MAX));
  EXPECT_FALSE(budget.TryCharge(SIZE_MAX - 49));
  EXPECT_FALSE(budget.TryCharge(SIZE_MAX, SIZE_MAX));
  EXPECT_EQ(budget.bytes_used(), 50u);
  Budget unlimited("process_bytes_max");
  EXPECT_TRUE(unlimited.TryCharge(SIZE_MAX - 1));
  EXPECT_FALSE(unlimited.TryCharge(2));
}

TEST(Budget, ALoweredLimitHoldsFromTheNextCharge) {
  Budget budget("process_bytes_max", 100, 80);
  budget.set_bytes_max(50);
  EXPECT_FALSE(budget.TryCharge(1));
  budget.ForceCharge(10);
  EXPECT_EQ(budget.bytes_used(), 90u);
  budget.Refund(60);
  EXPECT_TRUE(budget.TryCharge(20));
}

// A refused charge was once added and taken back: for that moment everybody else was refused too.
TEST(Budget, ARefusedGiantDoesNotFailTheSmallOnesBesideIt) {
  Budget budget("process_bytes_max", 1000);
  std::atomic<bool> stop{false};
  std::thread giant([&] {
    while (!stop.load()) static_cast<void>(budget.TryCharge(1'000'000));
  });
  for (int i = 0; i < 200'000; ++i) {
    if (!budget.TryCharge(10)) {
      ADD_FAILURE() << "a charge of 10 of 1000 bytes was refused in round " << i;
      break;
    }
    budget.Refund(10);
  }
  stop.store(true);
  giant.join();
}

TEST(Budget, ManyThreadsNeverTakeMoreThanTheLimit) {
  Budget budget("process_bytes_max", 100);
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 1000; ++j) granted += budget.TryCharge(3) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted.load(), 33);
  EXPECT_EQ(budget.bytes_used(), 99u);
}

#ifndef NDEBUG
TEST(BudgetDeathTest, RefundOfMoreThanWasCharged) {
  Budget budget("process_bytes_max", 100, 5);
  EXPECT_DEATH(budget.Refund(6), "more bytes come back than were charged");
}
#endif

}  // namespace
}  // namespace harena
