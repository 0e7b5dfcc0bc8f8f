// What a ScopePool counts, however many threads count at once.
#include <atomic>
#include <barrier>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "harena/base/thread_slot.h"
#include "harena/mem/test_pool.h"
#include "harena/scope/scope_pool.h"

namespace harena {
namespace {

class ScopeCountsTest : public testing::Test {
 protected:
  void Serve(size_t bytes, size_t wire_bytes = 0) {
    scopes_.CountRequest();
    Scope scope = scopes_.Acquire();
    scope.CountWire(wire_bytes);
    static_cast<void>(scope.arena().Allocate(bytes));
  }

  PagePool pool_{TestOptions()};
  ScopePool scopes_{{.page_pool = &pool_}};
};

// More threads than have counts of their own, and more after them.
TEST_F(ScopeCountsTest, AreExactWhenTheScopesHaveEnded) {
  constexpr uint64_t kThreads = kThreadSlots + 20, kScopes = 200, kRounds = 3;
  for (uint64_t round = 0; round < kRounds; ++round) {
    std::barrier all(kThreads);
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        static_cast<void>(ThreadSlot());
        all.arrive_and_wait();
        for (uint64_t i = 0; i < kScopes; ++i) Serve(1000 + i, 500);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  constexpr uint64_t kAll = kThreads * kScopes * kRounds;
  const ScopePoolStats stats = scopes_.stats();
  EXPECT_EQ(scopes_.requests(), kAll);
  EXPECT_EQ(stats.scopes_made, kAll);
  EXPECT_EQ(stats.scopes_ended, kAll);
  EXPECT_EQ(stats.scopes_moved, 0u);
  EXPECT_EQ(stats.wire_bytes_sum, kAll * 500);
  EXPECT_EQ(stats.block_bytes_sum, kAll * pool_.options().page_bytes);
  EXPECT_EQ(stats.blocks_sum, kAll);
  EXPECT_EQ(stats.blocks.counts[0], kAll);
  EXPECT_GE(stats.bytes_max, 1000 + kScopes - 1);
}

TEST_F(ScopeCountsTest, SayHowManyEndedOnAnotherThread) {
  for (int i = 0; i < 3; ++i) {
    std::optional<Scope> scope(scopes_.Acquire());
    std::thread([&] { scope.reset(); }).join();
  }
  Serve(1);
  const ScopePoolStats stats = scopes_.stats();
  EXPECT_EQ(stats.scopes_ended, 4u);
  EXPECT_EQ(stats.scopes_moved, 3u);
  EXPECT_EQ(pool_.stats().blocks_moved, 3u);
}

// While the threads are there, and when their counts went to the pool.
TEST_F(ScopeCountsTest, SayHowManyBlocksOfAPoolCameBackOnAnotherThread) {
  constexpr uint64_t kThreads = kThreadSlots + 20, kScopes = 50;
  ScopePool unsampled({.quarantine_one_in = 0, .page_pool = &pool_});
  std::vector<std::vector<Scope>> scopes(kThreads);
  for (auto& some : scopes) {
    for (uint64_t i = 0; i < kScopes; ++i) some.push_back(unsampled.Acquire());
  }
  std::barrier ended(kThreads + 1), read(kThreads + 1);
  std::vector<std::thread> threads;
  for (auto& some : scopes) {
    threads.emplace_back([&] {
      static_cast<void>(ThreadSlot());
      some.clear();
      ended.arrive_and_wait();
      read.arrive_and_wait();
    });
  }
  // Who looks meanwhile sees it grow, and no further than it may.
  uint64_t seen = 0;
  while (seen < kThreads * kScopes) {
    const uint64_t moved = pool_.stats().blocks_moved;
    EXPECT_GE(moved, seen);
    seen = moved;
  }
  ended.arrive_and_wait();
  EXPECT_EQ(pool_.stats().blocks_moved, kThreads * kScopes);
  read.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool_.stats().blocks_moved, kThreads * kScopes);
  EXPECT_EQ(pool_.stats().blocks_freed, kThreads * kScopes);
}

// A scope in quarantine has blocks of another pool.
TEST_F(ScopeCountsTest, LeaveOutTheBlocksOfSampledScopes) {
  ScopePool sampled({.quarantine_one_in = 1, .page_pool = &pool_});
  std::optional<Scope> scope(sampled.Acquire());
  std::thread([&] { scope.reset(); }).join();
  EXPECT_EQ(sampled.stats().scopes_sampled, 1u);
  EXPECT_EQ(sampled.stats().scopes_moved, 1u);
  EXPECT_EQ(sampled.stats().blocks_sum, 1u);
  EXPECT_EQ(pool_.stats().blocks_moved, 0u);
}

TEST_F(ScopeCountsTest, SayHowManyBlocksWereTaken) {
  {
    Scope scope = scopes_.Acquire();
    for (int i = 0; i < 3; ++i) static_cast<void>(scope.arena().Allocate(60 * kKiB));
  }
  const PagePoolStats pool = pool_.stats();
  EXPECT_GT(pool.blocks_allocated, 1u);
  const ScopePoolStats stats = scopes_.stats();
  EXPECT_EQ(stats.blocks_sum, pool.blocks_allocated);
  EXPECT_EQ(stats.blocks.counts[BlocksHistogram::BucketOf(pool.blocks_allocated)], 1u);
  Serve(1);
  EXPECT_EQ(scopes_.stats().blocks.counts[0], 1u);
}

// A scope that ends because another one does has blocks of its own.
TEST_F(ScopeCountsTest, CountTheBlocksOfScopesThatScopesOwn) {
  {
    Scope outer = scopes_.Acquire();
    outer.Create<Scope>(scopes_.Acquire());
  }
  EXPECT_EQ(scopes_.stats().blocks_sum, 2u);
  EXPECT_EQ(scopes_.stats().scopes_ended, 2u);
}

TEST_F(ScopeCountsTest, TimeOneScopeInMany) {
  constexpr int kScopes = 20'000;
  int timed = 0;
  for (int i = 0; i < kScopes; ++i) {
    Scope scope = scopes_.Acquire();
    timed += scope.parse_nanos() != nullptr ? 1 : 0;
    const StepTimer timer(scope.parse_nanos());
  }
  EXPECT_GT(timed, kScopes / 64 / 2);
  EXPECT_LT(timed, kScopes / 64 * 2);
  const ScopePoolStats stats = scopes_.stats();
  uint64_t parsed = 0, serialized = 0;
  for (const uint64_t count : stats.parse_times.counts) parsed += count;
  for (const uint64_t count : stats.serialize_times.counts) serialized += count;
  EXPECT_EQ(parsed, static_cast<uint64_t>(timed));
  EXPECT_GE(stats.parse_nanos_sum, parsed);
  EXPECT_EQ(serialized, 0u);  // and where nothing was done, nothing is said
}

// The pool goes first; what its scopes count into must stay until the last of them.
TEST_F(ScopeCountsTest, OutliveThePoolWithItsScopes) {
  for (int round = 0; round < 50; ++round) {
    auto scopes = std::make_unique<ScopePool>(Options{.page_pool = &pool_});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([scope = scopes->Acquire()]() mutable {
        DetachedScope detached = scope.Detach();
        { const Scope gone = std::move(scope); }
      });
    }
    scopes.reset();
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(pool_.stats().bytes_in_use, 0u);
}

}  // namespace
}  // namespace harena
