#include "harena/base/thread_slot.h"

#include <array>
#include <atomic>
#include <barrier>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace harena {
namespace {

TEST(ThreadSlot, StaysTheThreadsOwn) {
  const uint32_t mine = ThreadSlot();
  EXPECT_LT(mine, kThreadSlots);
  EXPECT_EQ(ThreadSlot(), mine);
  std::thread([mine] { EXPECT_NE(ThreadSlot(), mine); }).join();
}

TEST(ThreadSlot, IsGivenOnWhenItsThreadEnds) {
  std::set<uint32_t> slots;
  for (uint32_t i = 0; i < 10 * kThreadSlots; ++i) {
    std::thread([&] { slots.insert(ThreadSlot()); }).join();
  }
  EXPECT_EQ(slots.size(), 1u);
  EXPECT_LT(*slots.begin(), kThreadSlots);
}

TEST(ThreadSlot, NoTwoThreadsHaveTheSameAndTheRestHaveNone) {
  constexpr uint32_t kThreads = kThreadSlots + 10;
  std::array<std::atomic<int>, kThreadSlots + 1> owners{};
  std::barrier all(kThreads);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      owners.at(ThreadSlot()).fetch_add(1);
      all.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t i = 0; i < kThreadSlots; ++i) EXPECT_LE(owners[i].load(), 1) << i;
  EXPECT_GE(owners[kThreadSlots].load(), 10);
}

// What the thread before stored under a number is seen by the next one: counts are exact.
TEST(ThreadSlot, WhatWasStoredUnderItIsSeen) {
  std::array<std::atomic<uint64_t>, kThreadSlots + 1> counts{};
  constexpr uint64_t kThreads = 200, kRounds = 1000;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    if (i >= 8) threads[i - 8].join();
    threads.emplace_back([&] {
      std::atomic<uint64_t>& count = counts.at(ThreadSlot());
      for (uint64_t round = 0; round < kRounds; ++round) {
        count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      }
    });
  }
  for (uint64_t i = kThreads - 8; i < kThreads; ++i) threads[i].join();
  uint64_t sum = 0;
  for (const auto& count : counts) sum += count.load();
  EXPECT_EQ(sum, kThreads * kRounds);
}

}  // namespace
}  // namespace harena
