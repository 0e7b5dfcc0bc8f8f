// Threads that use a pool all the time, for tests of races. Not installed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"

namespace harena {

inline constexpr auto kDuration = std::chrono::milliseconds(700);
inline constexpr int kThreads = 3;

/// When a race has run for long enough.
class Deadline {
 public:
  bool Passed() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kDuration;
};

/// A pool that decays and evicts all the time, so that every path runs.
inline PagePoolOptions RestlessOptions() {
  PagePoolOptions options;
  options.page_bytes = 4 * kKiB;
  options.block_bytes_max = 64 * kKiB;
  options.thread_cache_bytes_max = 64 * kKiB;
  options.retained_bytes_max = 256 * kKiB;
  options.decay_after = std::chrono::milliseconds(2);
  options.budget = nullptr;
  return options;
}

/// Takes some blocks of several sizes, writes to them, and gives them back.
inline void UseOnce(PagePool& pool, uint64_t round) {
  Block blocks[24];
  for (size_t i = 0; i < std::size(blocks); ++i) {
    blocks[i] = pool.TryAllocate((4 * kKiB) << ((i + round) % 5));
    Stamp(blocks[i].data, 512, round);
  }
  for (const Block& block : blocks) {
    EXPECT_TRUE(HasStamp(block.data, 512, round));
    pool.Free(block.data, block.bytes);
  }
}

/// `kThreads` threads that use `pool` until `disturb` has run for the whole duration.
template <typename Disturb>
void DuringTraffic(PagePool& pool, Disturb disturb) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (uint64_t round = 0; !stop.load(); ++round) UseOnce(pool, round);
    });
  }
  for (const Deadline deadline; !deadline.Passed();) disturb();
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  EXPECT_EQ(pool.stats().bytes_thread_cached, 0u);
  EXPECT_LE(pool.stats().bytes_retained, pool.options().retained_bytes_max);
  EXPECT_TRUE(AddsUp(pool.stats()));
}

}  // namespace harena
