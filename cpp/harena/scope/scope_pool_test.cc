// Scopes of one method: what is learned from them, and what is kept.
#include "harena/scope/scope_pool.h"

#include <algorithm>
#include <bit>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/test_pool.h"

namespace harena {
namespace {

using testing::HasSubstr;

constexpr size_t kPageBytes = 64 * kKiB;

Options WithBlocksUpTo2MiB(PagePool& pool) {
  return {.first_block_bytes_max = 2 * kMiB, .page_pool = &pool};
}

// One request that takes `bytes` in pieces, as messages do.
void Serve(ScopePool& scopes, size_t bytes) {
  Scope scope = scopes.Acquire();
  for (size_t taken = 0; taken < bytes; taken += 1024) {
    static_cast<void>(scope.arena().Allocate(1024));
  }
}

TEST(ScopePool, LearnsTheFirstBlockWithinAFewRequests) {
  PagePool pool(TestOptions());
  ScopePool scopes(WithBlocksUpTo2MiB(pool));
  EXPECT_EQ(scopes.stats().first_block_bytes, kPageBytes);
  for (int i = 0; i < 4; ++i) Serve(scopes, 300 * kKiB);
  EXPECT_EQ(scopes.stats().first_block_bytes, 512 * kKiB);
  Scope scope = scopes.Acquire();
  static_cast<void>(scope.arena().Allocate(300 * kKiB));
  EXPECT_EQ(scope.arena().stats().blocks, 1u);
}

TEST(ScopePool, FollowsTheTrafficDownAgain) {
  PagePool pool(TestOptions());
  ScopePool scopes(WithBlocksUpTo2MiB(pool));
  for (int i = 0; i < 10; ++i) Serve(scopes, kMiB);
  EXPECT_GE(scopes.stats().first_block_bytes, kMiB);
  for (uint32_t i = 0; i < 4 * Profile::kWindow; ++i) Serve(scopes, 1024);
  EXPECT_EQ(scopes.stats().first_block_bytes, kPageBytes);
}

TEST(ScopePool, AFixedFirstBlockIsNotLearned) {
  PagePool pool(TestOptions());
  ScopePool scopes({.first_block_bytes = 256 * kKiB, .page_pool = &pool});
  for (int i = 0; i < 10; ++i) Serve(scopes, kMiB);
  EXPECT_EQ(scopes.stats().first_block_bytes, 256 * kKiB);
  const Scope scope = scopes.Acquire();
  EXPECT_EQ(pool.stats().bytes_in_use, 256 * kKiB);
}

// Blocks come in powers of two, the option may be any number.
TEST(ScopePool, TheLearnedBlockIsNeverAboveItsMaximum) {
  PagePool pool(TestOptions());
  for (const size_t bytes_max :
       {kPageBytes, 100 * kKiB, 128 * kKiB, 1'500'000 * size_t{1}, 2 * kMiB}) {
    ScopePool scopes({.first_block_bytes_max = bytes_max, .page_pool = &pool});
    for (int i = 0; i < 10; ++i) Serve(scopes, 5 * kMiB);
    EXPECT_LE(scopes.stats().first_block_bytes, bytes_max);
    const Scope scope = scopes.Acquire();
    EXPECT_LE(pool.stats().bytes_in_use, bytes_max);
    EXPECT_GT(2 * pool.stats().bytes_in_use, bytes_max);
  }
}

TEST(ScopePool, TheLimitClampsTheLearnedBlock) {
  PagePool pool(TestOptions());
  ScopePool scopes(WithBlocksUpTo2MiB(pool));
  for (int i = 0; i < 10; ++i) Serve(scopes, 2 * kMiB);
  EXPECT_EQ(scopes.stats().first_block_bytes, 2 * kMiB);
  for (const size_t limit : {kPageBytes, 100 * kKiB, 700 * kKiB, 1100 * kKiB}) {
    ASSERT_EQ(scopes.SetRequestBytesMax(limit), std::nullopt);
    Scope scope = scopes.Acquire();
    EXPECT_LE(pool.stats().bytes_in_use, limit + kPageBytes) << limit;
    EXPECT_NE(scope.arena().TryAllocate(kPageBytes / 2), nullptr);
  }
}

TEST(ScopePool, ThePercentileDecidesHowManyFitTheFirstBlock) {
  PagePool pool(TestOptions());
  for (const double percentile : {60.0, 75.0, 90.0}) {
    Options options = WithBlocksUpTo2MiB(pool);
    options.first_block_percentile = percentile;
    ScopePool scopes(options);
    std::vector<size_t> sizes;
    for (size_t i = 0; i < 1000; ++i) {
      sizes.push_back((i * 7919 % 1000) * kKiB);  // uniform from 0 to 1000 KiB
      Serve(scopes, sizes.back());
    }
    std::sort(sizes.begin(), sizes.end());
    const size_t exact_bytes = sizes[static_cast<size_t>(percentile * 10) - 1];
    const size_t learned_bytes = scopes.stats().first_block_bytes;
    EXPECT_GE(learned_bytes, exact_bytes * 9 / 10) << percentile;
    // A profile's bucket holds at most half as much again, a block at most twice that.
    EXPECT_LE(learned_bytes, std::bit_ceil(exact_bytes * 11 / 10)) << percentile;
  }
}

// The rule that every retention here obeys: a rare giant pins nothing.
TEST(ScopePool, ARareGiantDoesNotPinMemory) {
  PagePool pool(TestOptions());
  ScopePool scopes({.page_pool = &pool});
  const auto serve_small = [&] {
    for (int i = 0; i < 200; ++i) {
      Serve(scopes, 20 * kKiB + static_cast<size_t>(i) % 7 * 4 * kKiB);
      test_now_ms += 20;
    }
  };
  serve_small();
  const size_t before_bytes = pool.stats().bytes_retained + pool.stats().bytes_thread_cached;
  Serve(scopes, 60 * kMiB);
  EXPECT_GE(pool.stats().bytes_retained + pool.stats().bytes_thread_cached, 30 * kMiB);
  // Two decay periods of ordinary traffic later.
  serve_small();
  pool.Decay();
  const PagePoolStats stats = pool.stats();
  EXPECT_LE(stats.bytes_retained + stats.bytes_thread_cached,
            std::max(before_bytes, pool.options().thread_cache_bytes_max));
  EXPECT_EQ(stats.bytes_retained, 0u);
  EXPECT_LE(scopes.stats().first_block_bytes, 2 * kPageBytes);
  EXPECT_LE(scopes.stats().bytes_p90, kPageBytes);
  EXPECT_EQ(stats.bytes_in_use, 0u);
}

TEST(ScopePool, AGiantAmongTheFirstRequestsIsForgotten) {
  PagePool pool(TestOptions());
  ScopePool scopes({.page_pool = &pool});
  Serve(scopes, 20 * kMiB);
  for (int i = 0; i < 63; ++i) Serve(scopes, 10 * kKiB);
  EXPECT_EQ(scopes.stats().first_block_bytes, kPageBytes);
}

TEST(ScopePool, CountsWhatItsScopesDid) {
  FailingPageSource source;
  PagePool pool(TestOptions(), source);
  ScopePool scopes({.page_pool = &pool});
  source.FailAfter(0);
  EXPECT_FALSE(scopes.TryAcquire());
  source.Heal();
  for (int i = 0; i < 10; ++i) Serve(scopes, 1000);
  {
    const Scope live = scopes.Acquire();
    EXPECT_EQ(scopes.stats().scopes_live(), 1u);
  }
  const ScopePoolStats stats = scopes.stats();
  EXPECT_EQ(stats.scopes_made, 11u);
  EXPECT_EQ(stats.scopes_ended, 11u);
  EXPECT_EQ(stats.scopes_live(), 0u);
  EXPECT_EQ(stats.scopes_refused, 1u);
  EXPECT_EQ(stats.scopes_detached, 0u);
  EXPECT_GE(stats.bytes_p50, 1000u);
  EXPECT_LE(stats.bytes_p99, 2048u);
}

TEST(ScopePool, CountsBytesSinceTheStart) {
  PagePool pool(TestOptions());
  ScopePool scopes({.first_block_bytes = kPageBytes, .page_pool = &pool});
  constexpr uint64_t kSmall = 3 * Profile::kWindow;  // more than the profile remembers
  for (uint64_t i = 0; i < kSmall; ++i) Serve(scopes, 1024);
  Serve(scopes, 300 * kKiB);
  const ScopePoolStats stats = scopes.stats();
  EXPECT_EQ(stats.bytes.counts[BytesHistogram::BucketOf(1600)], kSmall);
  EXPECT_EQ(stats.bytes.counts[BytesHistogram::BucketOf(310 * kKiB)], 1u);
  EXPECT_GE(stats.bytes_max, 300 * kKiB);
  EXPECT_LE(stats.bytes_max, 310 * kKiB);
  EXPECT_GE(stats.bytes_sum, stats.bytes_max + kSmall * 1024);
  EXPECT_LE(stats.bytes_sum, stats.bytes_max + kSmall * 2048);
  EXPECT_GE(stats.block_bytes_sum, kSmall * kPageBytes + stats.bytes_max);
  EXPECT_EQ(stats.block_bytes_sum % kPageBytes, 0u);
  EXPECT_EQ(stats.overflows, 1u);
}

TEST(ScopePool, CountsWhatIsOutsideOfBlocks) {
  PagePool pool(TestOptions());
  ScopePool scopes({.page_pool = &pool});
  for (int i = 0; i < 3; ++i) {
    Scope scope = scopes.Acquire();
    ASSERT_TRUE(scope.TryChargeHeap(1000));
    ASSERT_TRUE(scope.TryChargeHeap(234));
  }
  EXPECT_EQ(scopes.stats().outside_bytes_sum, 3u * 1234);
  EXPECT_EQ(scopes.stats().overflows, 0u);
}

// Who fills their messages expects no refusal: not where there is no memory for the scope either.
TEST(ScopePool, ScopesWhoseMessagesMayNotThrowAreNotRefused) {
  Budget budget("process_bytes_max", 1);
  PagePoolOptions options = TestOptions();
  options.budget = &budget;
  PagePool pool(options);
  ScopePool refusing({.page_pool = &pool});
  EXPECT_THROW(refusing.Acquire(), BudgetExceeded);
  const size_t before_bytes = ProcessBudget().bytes_used();
  for (const size_t sampled_one_in : {0, 1}) {
    ScopePool scopes({.quarantine_one_in = sampled_one_in, .page_pool = &pool},
                     MessagesMayThrow::kNo);
    for (int round = 0; round < 3; ++round) {
      Scope scope = scopes.Acquire();
      EXPECT_FALSE(scope.sampled());
      Stamp(scope.arena().Allocate(5000), 5000, 1);
      EXPECT_GT(ProcessBudget().bytes_used(), before_bytes);
      EXPECT_EQ(scope.arena().TryAllocate(kMiB), nullptr) << "what is asked for besides may be";
      std::thread([ended_there = std::move(scope)] {}).join();
    }
    EXPECT_EQ(ProcessBudget().bytes_used(), before_bytes);
    EXPECT_EQ(scopes.stats().scopes_live(), 0u);
    EXPECT_EQ(scopes.stats().scopes_refused, 0u);
    EXPECT_EQ(scopes.stats().blocks_sum, 0u) << "none is the pool's";
  }
}

TEST(ScopePool, ModeAndLimitChangeWithTheNextScope) {
  PagePool pool(TestOptions());
  ScopePool scopes({.page_pool = &pool}, MessagesMayThrow::kNo);
  Scope before = scopes.Acquire();
  EXPECT_EQ(scopes.SetMode(Mode::kReuse), std::nullopt);
  EXPECT_EQ(scopes.SetRequestBytesMax(kMiB), std::nullopt);
  Scope after = scopes.Acquire();
  EXPECT_EQ(before.mode(), Mode::kCodec);
  EXPECT_EQ(after.mode(), Mode::kReuse);
  EXPECT_EQ(before.budget().bytes_max(), kUnlimitedBytes);
  EXPECT_EQ(after.budget().bytes_max(), kMiB);
  EXPECT_FALSE(after.messages_may_throw());
  EXPECT_EQ(scopes.options().mode, Mode::kReuse);
  EXPECT_EQ(scopes.options().request_bytes_max, kMiB);
  EXPECT_EQ(scopes.mode(), Mode::kReuse);
}

TEST(ScopePool, AChangeThatDoesNotFitChangesNothing) {
  PagePool pool(TestOptions());
  ScopePool scopes({.request_bytes_max = kMiB, .page_pool = &pool});
  EXPECT_THAT(scopes.SetMode(Mode::kHeap).value_or(""), HasSubstr("mode heap"));
  EXPECT_EQ(scopes.mode(), Mode::kCodec);
  EXPECT_THAT(scopes.SetRequestBytesMax(0).value_or(""), HasSubstr("request_bytes_max is 0"));
  EXPECT_EQ(scopes.options().request_bytes_max, kMiB);
  EXPECT_EQ(scopes.SetRequestBytesMax(kUnlimitedBytes), std::nullopt);
  EXPECT_EQ(scopes.SetMode(Mode::kHeap), std::nullopt);
}

}  // namespace
}  // namespace harena
