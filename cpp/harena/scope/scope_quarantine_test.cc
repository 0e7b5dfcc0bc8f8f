// Sampled scopes: their memory goes into quarantine when they end.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/base/compiler.h"
#include "harena/guard/fault_reporter.h"
#include "harena/guard/quarantine.h"
#include "harena/mem/test_pool.h"
#include "harena/scope/scope_pool.h"
#include "tests/safety_count.h"

namespace harena {
namespace {

constexpr char kMethod[] = "/feed.Feed/Rank";

class ScopeQuarantineTest : public testing::Test {
 protected:
  ScopePool Scopes(size_t one_in, size_t request_bytes_max = kUnlimitedBytes) {
    return ScopePool(
        {.request_bytes_max = request_bytes_max, .quarantine_one_in = one_in, .page_pool = &pool_},
        MessagesMayThrow::kYes, kMethod);
  }
  static char Read(const void* data) { return *static_cast<const volatile char*>(data); }
  static bool InQuarantine(const void* data) {
    return ExplainAddress(data).kind == FaultyAddress::Kind::kEnded;
  }

  PagePool pool_{TestOptions()};
};

TEST_F(ScopeQuarantineTest, OneOfOneIsEveryScope) {
  ScopePool scopes = Scopes(1);
  for (uint64_t i = 1; i <= 10; ++i) {
    const char* data = nullptr;
    {
      Scope scope = scopes.Acquire();
      EXPECT_TRUE(scope.sampled());
      data = static_cast<char*>(scope.arena().Allocate(100));
      EXPECT_EQ(ExplainAddress(data).kind, FaultyAddress::Kind::kUnknown);
    }
    const FaultyAddress found = ExplainAddress(data);
    ASSERT_EQ(found.kind, FaultyAddress::Kind::kEnded);
    EXPECT_EQ(found.end->number, i);
    EXPECT_STREQ(found.end->name.data(), kMethod);
  }
  EXPECT_EQ(scopes.stats().scopes_sampled, 10u);
  EXPECT_EQ(scopes.stats().scopes_live(), 0u);
  EXPECT_EQ(pool_.stats().blocks_allocated, 0u);
}

TEST_F(ScopeQuarantineTest, OneOfManyIsAboutThatManyAndNotInStep) {
  ScopePool scopes = Scopes(100);
  std::vector<int> distances;
  int last = 0;
  for (int i = 1; i <= 20'000; ++i) {
    if (!scopes.Acquire().sampled()) continue;
    if (last == 0) {
      EXPECT_EQ(i, 100);
    } else {
      EXPECT_LT(i - last, 200);
      distances.push_back(i - last);
    }
    last = i;
  }
  EXPECT_GT(distances.size(), 140u);
  EXPECT_LT(distances.size(), 280u);
  EXPECT_NE(*std::min_element(distances.begin(), distances.end()),
            *std::max_element(distances.begin(), distances.end()));
}

TEST_F(ScopeQuarantineTest, ZeroIsNoneAndSoIsAPoolWithoutQuarantine) {
  ScopePool none = Scopes(0);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(none.Acquire().sampled());
  PagePoolOptions options = TestOptions();
  options.quarantine_bytes_max = 0;
  PagePool pool(options);
  ScopePool off({.quarantine_one_in = 1, .page_pool = &pool});
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(off.Acquire().sampled());
  EXPECT_EQ(off.stats().scopes_sampled, 0u);
  EXPECT_EQ(off.stats().scopes_made, 100u);
}

TEST_F(ScopeQuarantineTest, ADetachedScopeGoesThereWithItsLastOwner) {
  ScopePool scopes = Scopes(1);
  std::optional<Scope> scope(scopes.Acquire());
  char* const data = static_cast<char*>(scope->arena().Allocate(100));
  std::strcpy(data, "still here");
  DetachedScope detached = scope->Detach();
  scope.reset();
  EXPECT_STREQ(data, "still here");
  EXPECT_FALSE(InQuarantine(data));
  std::thread([&detached] { detached.Reset(); }).join();
  EXPECT_TRUE(InQuarantine(data));
}

TEST_F(ScopeQuarantineTest, SeveralBlocksAreAllOfThatScope) {
  ScopePool scopes = Scopes(1);
  std::vector<const void*> places;
  {
    Scope scope = scopes.Acquire();
    for (int i = 0; i < 20; ++i) places.push_back(scope.arena().Allocate(50 * kKiB));
  }
  for (const void* place : places) {
    const FaultyAddress found = ExplainAddress(place);
    ASSERT_EQ(found.kind, FaultyAddress::Kind::kEnded);
    EXPECT_EQ(found.end->number, 1u);
  }
}

// What is refused and what is not is the same for a sampled scope.
TEST_F(ScopeQuarantineTest, LimitsMeanTheSame) {
  for (const size_t limit : {64 * kKiB, 100 * kKiB, 300 * kKiB, kMiB}) {
    std::vector<size_t> fitted;
    for (const size_t one_in : {0, 1}) {
      ScopePool scopes = Scopes(one_in, limit);
      Scope scope = scopes.Acquire();
      EXPECT_EQ(scope.sampled(), one_in == 1);
      size_t count = 0;
      while (scope.arena().TryAllocate(1000) != nullptr) ++count;
      fitted.push_back(count);
    }
    EXPECT_EQ(fitted[0], fitted[1]) << limit;
  }
}

TEST_F(ScopeQuarantineTest, ARefusedSampleIsAnOrdinaryScope) {
  Budget budget("process_bytes_max", 64 * kKiB);
  PagePoolOptions options = TestOptions();
  options.budget = &budget;
  PagePool pool(options);
  ScopePool scopes({.quarantine_one_in = 1, .page_pool = &pool});
  const Scope first = scopes.Acquire();
  EXPECT_TRUE(first.sampled());
  EXPECT_FALSE(scopes.TryAcquire().has_value());
  EXPECT_EQ(scopes.stats().scopes_refused, 1u);
  EXPECT_EQ(scopes.stats().scopes_made, 1u);
}

TEST_F(ScopeQuarantineTest, ThreadsSampleTheirShare) {
  ScopePool scopes = Scopes(10);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&scopes] {
      for (int i = 0; i < 1000; ++i) {
        Scope scope = scopes.Acquire();
        std::memset(scope.arena().Allocate(64), 1, 64);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scopes.stats().scopes_ended, 4000u);
  EXPECT_GT(scopes.stats().scopes_sampled, 200u);
  EXPECT_LT(scopes.stats().scopes_sampled, 800u);
}

#if HARENA_ASAN
constexpr char kReport[] = "AddressSanitizer";
#else
constexpr char kReport[] = "FAULT: read after the end of a scope.*scope 1 of /feed.Feed/Rank";
#endif

class ScopeQuarantineDeathTest : public ScopeQuarantineTest {
 protected:
  void TearDown() override {
    SafetyCount(HasFailure() ? "detectors_silent" : "detectors_fired", 1);
  }
};

TEST_F(ScopeQuarantineDeathTest, AReadAfterTheEndNamesTheMethod) {
  ScopePool scopes = Scopes(1);
  std::optional<Scope> scope(scopes.Acquire());
  const char* const data = static_cast<char*>(scope->arena().Allocate(100));
  scope.reset();
  EXPECT_DEATH(
      {
        InstallFaultReporter();
        Read(data);
      },
      kReport);
}

// The mistake that Detach() invites: letting go of the memory, and reading on.
TEST_F(ScopeQuarantineDeathTest, AReadAfterADetachedScopeWasResetNamesTheMethod) {
  ScopePool scopes = Scopes(1);
  DetachedScope detached;
  const char* data = nullptr;
  {
    Scope scope = scopes.Acquire();
    data = static_cast<char*>(scope.arena().Allocate(100));
    detached = scope.Detach();
  }
  detached.Reset();
  EXPECT_DEATH(
      {
        InstallFaultReporter();
        Read(data);
      },
      kReport);
}

}  // namespace
}  // namespace harena
