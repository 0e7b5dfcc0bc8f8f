// What a request may take, and what is said when that is not enough.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/test_pool.h"
#include "harena/scope/scope_pool.h"

namespace harena {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr size_t kPageBytes = 64 * kKiB;

TEST(ScopeBudget, CreateSaysWhichLimitAndByHowMuch) {
  PagePool pool(TestOptions());
  Scope scope({.request_bytes_max = 256 * kKiB, .page_pool = &pool});
  struct Large {
    char bytes[400'000];
  };
  try {
    scope.Create<Large>();
    FAIL() << "a limit was not held";
  } catch (const BudgetExceeded& exceeded) {
    EXPECT_THAT(exceeded.what(),
                AllOf(HasSubstr("request_bytes_max is 262144"), HasSubstr("65536 are in use"),
                      HasSubstr("more were wanted")));
    EXPECT_STREQ(exceeded.refusal().limit, "request_bytes_max");
    EXPECT_EQ(exceeded.refusal().bytes_max, 256 * kKiB);
    EXPECT_EQ(exceeded.refusal().bytes_used, kPageBytes);
    EXPECT_GE(exceeded.refusal().bytes_wanted, sizeof(Large));
  }
  // What is small still goes, and so do standard containers until they do not.
  EXPECT_NE(scope.Create<int>(7), nullptr);
  std::pmr::vector<char> bytes(scope.resource());
  EXPECT_THROW(bytes.resize(400'000), std::bad_alloc);
  EXPECT_LE(scope.budget().bytes_used(), 256 * kKiB + kPageBytes);
}

TEST(ScopeBudget, KeepAliveLetsGoOfWhatItCannotKeep) {
  PagePool pool(TestOptions());
  Scope scope({.request_bytes_max = 64 * kKiB, .page_pool = &pool});
  while (scope.arena().TryAllocate(16) != nullptr) {
  }
  auto alive = std::make_shared<int>(1);
  EXPECT_THROW(scope.KeepAlive(alive), BudgetExceeded);
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(ScopeBudget, OnePageIsAlwaysGranted) {
  PagePool pool(TestOptions());
  Scope scope({.request_bytes_max = 1, .page_pool = &pool});
  EXPECT_NE(scope.arena().TryAllocate(32 * kKiB), nullptr);
  EXPECT_EQ(scope.arena().TryAllocate(kPageBytes), nullptr);
}

// A first block is rounded up to a size class; the limit has to hold all the same.
TEST(ScopeBudget, TheFirstBlockStaysWithinTheLimitAndAPage) {
  PagePool pool(TestOptions());
  for (size_t limit = kPageBytes; limit <= 5 * kMiB; limit += 50'001) {
    Scope scope({.request_bytes_max = limit, .first_block_bytes = 4 * kMiB, .page_pool = &pool});
    EXPECT_LE(pool.stats().bytes_in_use, limit + kPageBytes) << limit;
    EXPECT_EQ(scope.budget().bytes_used(), pool.stats().bytes_in_use);
  }
}

TEST(ScopeBudget, AFirstBlockThatIsRefusedBecomesAPage) {
  Budget process("process_bytes_max", kMiB);
  PagePoolOptions options = TestOptions();
  options.budget = &process;
  PagePool pool(options);
  Refusal refusal;
  const auto scope = Scope::TryMake({.first_block_bytes = 2 * kMiB, .page_pool = &pool}, &refusal);
  ASSERT_TRUE(scope);
  EXPECT_EQ(pool.stats().bytes_in_use, kPageBytes);
}

TEST(ScopeBudget, TryMakeSaysWhyThereIsNoScope) {
  FailingPageSource source;
  PagePool pool(TestOptions(), source);
  source.FailAfter(0);
  Refusal refusal;
  EXPECT_FALSE(Scope::TryMake({.page_pool = &pool}, &refusal));
  EXPECT_STREQ(refusal.limit, "memory");
  EXPECT_EQ(refusal.bytes_wanted, kPageBytes);
  EXPECT_THAT(refusal.Message(), HasSubstr("out of memory"));
  EXPECT_FALSE(Scope::TryMake({.page_pool = &pool}));
  EXPECT_THROW(Scope({.page_pool = &pool}), BudgetExceeded);
  source.Heal();
  EXPECT_TRUE(Scope::TryMake({.page_pool = &pool}, &refusal));
}

class ProcessBudgetTest : public testing::Test {
 protected:
  static PagePoolOptions Counted() {
    PagePoolOptions options = TestOptions();
    options.budget = &ProcessBudget();
    return options;
  }
  ~ProcessBudgetTest() override { ProcessBudget().set_bytes_max(kUnlimitedBytes); }
};

TEST_F(ProcessBudgetTest, RefusesAndRecovers) {
  PagePool pool(Counted());
  ScopePool scopes({.page_pool = &pool});
  ProcessBudget().set_bytes_max(ProcessBudget().bytes_used() + 3 * kPageBytes);
  std::vector<Scope> held;
  std::optional<Refusal> refusal;
  while (!refusal) {
    ASSERT_LE(held.size(), 3u);
    refusal.emplace();
    if (auto scope = scopes.TryAcquire(&*refusal)) {
      held.push_back(std::move(*scope));
      refusal.reset();
    }
  }
  EXPECT_EQ(held.size(), 3u);
  EXPECT_STREQ(refusal->limit, "process_bytes_max");
  EXPECT_EQ(refusal->bytes_wanted, kPageBytes);
  EXPECT_EQ(scopes.stats().scopes_refused, 1u);
  EXPECT_EQ(scopes.stats().scopes_live(), 3u);
  EXPECT_THROW(scopes.Acquire(), BudgetExceeded);
  // One that is there already is refused more, and is itself unharmed.
  EXPECT_THROW(static_cast<void>(held[0].arena().Allocate(kPageBytes)), BudgetExceeded);
  EXPECT_EQ(held[0].budget().bytes_used(), kPageBytes);
  held.pop_back();
  EXPECT_TRUE(scopes.TryAcquire());
}

TEST_F(ProcessBudgetTest, OutsideBytesCountAgainstBothAndComeBack) {
  PagePool pool(TestOptions());
  const size_t before_bytes = ProcessBudget().bytes_used();
  ProcessBudget().set_bytes_max(before_bytes + 900'000);
  {
    Scope scope({.request_bytes_max = kMiB, .page_pool = &pool});
    EXPECT_TRUE(scope.TryChargeHeap(500'000));
    EXPECT_TRUE(scope.TryChargeHeap(100'000));
    EXPECT_EQ(scope.budget().bytes_used(), kPageBytes + 600'000);
    EXPECT_EQ(ProcessBudget().bytes_used(), before_bytes + 600'000);

    Refusal refusal;
    EXPECT_FALSE(scope.TryChargeHeap(500'000, &refusal));
    EXPECT_STREQ(refusal.limit, "request_bytes_max");
    EXPECT_EQ(refusal.bytes_used, kPageBytes + 600'000);
    EXPECT_FALSE(scope.TryChargeHeap(310'000, &refusal));
    EXPECT_STREQ(refusal.limit, "process_bytes_max");
    EXPECT_FALSE(scope.TryChargeHeap(SIZE_MAX));
    // What was refused is charged nowhere.
    EXPECT_EQ(scope.budget().bytes_used(), kPageBytes + 600'000);
    EXPECT_EQ(ProcessBudget().bytes_used(), before_bytes + 600'000);

    // It lives as long as the memory, not as long as the scope.
    DetachedScope detached = scope.Detach();
    { const Scope ending = std::move(scope); }
    EXPECT_EQ(ProcessBudget().bytes_used(), before_bytes + 600'000);
  }
  EXPECT_EQ(ProcessBudget().bytes_used(), before_bytes);
}

}  // namespace
}  // namespace harena
