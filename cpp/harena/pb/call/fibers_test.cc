// Scopes that end, and limits that hold, on fibers that wait in the middle and go on on another
// thread.
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/guard/quarantine.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/arena/block_hooks.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/call/test_fiber.h"
#include "harena/scope/scope_pool.h"
#include "harena/test/shapes.pb.h"

namespace harena::pb {
namespace {

using google::protobuf::Arena;
using harena::test::Shapes;

constexpr size_t kPageBytes = 64 * kKiB;
constexpr char kMethod[] = "/feed.Feed/Rank";

// An object whose destructor waits, as one that takes a lock of the framework may.
struct Waiter {
  explicit Waiter(TestFiber& on) : fiber(on) {}
  ~Waiter() { fiber.Wait(); }
  TestFiber& fiber;
};

enum class Place { kOnMessagesArena, kOnScope };

class WaitingDestructorTest : public testing::TestWithParam<std::tuple<Mode, Place>> {
 protected:
  static Mode mode() { return std::get<Mode>(GetParam()); }

  // The messages of a request, on several pages.
  const void* Fill(Scope& scope) {
    Shapes* request = nullptr;
    if (mode() == Mode::kReuse) {
      request = static_cast<Shapes*>(keeper_->Take(scope).request);
    } else {
      request = scope.CreateMessage<Shapes>();
    }
    for (int i = 0; i < 20'000; ++i) request->add_leaves();
    return &request->leaves(19'999);
  }
  void AddWaiter(Scope& scope, TestFiber& fiber) {
    if (std::get<Place>(GetParam()) == Place::kOnScope) {
      scope.Create<Waiter>(fiber);
    } else {
      MessageArena::Of(scope).arena().Own(new Waiter(fiber));
    }
  }
  // What another fiber does on the thread meanwhile.
  void EndOtherArenas() {
    Arena arena(PageArenaOptions(pool_));
    for (int i = 0; i < 10; ++i)
      static_cast<void>(Arena::CreateArray<char>(&arena, kPageBytes - 1000));
  }

  PagePool pool_{TestOptions()};
  std::optional<MessageKeeper> keeper_{std::in_place, Shapes::default_instance(),
                                       Shapes::default_instance(), Options{.page_pool = &pool_}};
};

INSTANTIATE_TEST_SUITE_P(Modes, WaitingDestructorTest,
                         testing::Combine(testing::Values(Mode::kHeap, Mode::kArena, Mode::kPages,
                                                          Mode::kReuse, Mode::kCodec),
                                          testing::Values(Place::kOnMessagesArena,
                                                          Place::kOnScope)),
                         [](const auto& info) {
                           return std::string(ToString(std::get<Mode>(info.param))) +
                                  (std::get<Place>(info.param) == Place::kOnScope ? "_scope"
                                                                                  : "_arena");
                         });

TEST_P(WaitingDestructorTest, LosesNoBlock) {
  std::optional<TestFiber> fiber;
  fiber.emplace([&] {
    Scope scope({.page_pool = &pool_, .mode = mode()});
    Fill(scope);
    AddWaiter(scope, *fiber);
  });
  fiber->Resume();
  ASSERT_FALSE(fiber->ended());
  const size_t before_bytes = pool_.stats().bytes_in_use;
  EndOtherArenas();
  EXPECT_EQ(pool_.stats().bytes_in_use, before_bytes);
  fiber->ResumeOnAnotherThread();
  EXPECT_TRUE(fiber->ended());
  fiber.reset();  // and its stack
  EndOtherArenas();
  keeper_.reset();
  EXPECT_EQ(pool_.stats().bytes_in_use, 0u);
  EXPECT_TRUE(AddsUp(pool_.stats()));
}

// Two scopes that end in turns on one thread, and a third place where both go on.
TEST_P(WaitingDestructorTest, CountsTheBlocksOfItsScope) {
  ScopePool scopes({.mode = mode(), .page_pool = &pool_});
  std::optional<TestFiber> fiber;
  fiber.emplace([&] {
    Scope scope = scopes.Acquire();
    Fill(scope);
    AddWaiter(scope, *fiber);
    AddWaiter(scope, *fiber);
  });
  fiber->Resume();
  {
    Scope other = scopes.Acquire();
    Fill(other);
  }
  fiber->ResumeOnAnotherThread();
  {
    Scope other = scopes.Acquire();
    Fill(other);
  }
  fiber->ResumeOnAnotherThread();
  EXPECT_TRUE(fiber->ended());
  const ScopePoolStats stats = scopes.stats();
  EXPECT_EQ(stats.scopes_live(), 0u);
  EXPECT_EQ(std::accumulate(stats.blocks.counts.begin(), stats.blocks.counts.end(), uint64_t{0}),
            3u);
  if (mode() != Mode::kReuse) {  // where messages' blocks are not the scope's
    EXPECT_EQ(stats.blocks_sum, pool_.stats().blocks_freed);
  }
}

// The report of a use after the end names the scope.
TEST_P(WaitingDestructorTest, LeavesAReportOfItsScope) {
  ScopePool scopes({.mode = mode(), .quarantine_one_in = 1, .page_pool = &pool_},
                   MessagesMayThrow::kYes, kMethod);
  std::vector<const void*> places;
  std::optional<TestFiber> fiber;
  fiber.emplace([&] {
    Scope scope = scopes.Acquire();
    places.push_back(scope.Create<int>());
    const void* const in_message = Fill(scope);
    if (mode() != Mode::kArena && mode() != Mode::kHeap) places.push_back(in_message);
    AddWaiter(scope, *fiber);
  });
  fiber->Resume();
  // Somebody else's block meanwhile: it is of no scope.
  const Block block = guard::QuarantineOf(pool_)->TryAllocate(1);
  guard::QuarantineOf(pool_)->Free(block.data, block.bytes);
  ASSERT_EQ(ExplainAddress(block.data).kind, FaultyAddress::Kind::kEnded);
  EXPECT_STREQ(ExplainAddress(block.data).end->name.data(), "");
  fiber->ResumeOnAnotherThread();
  fiber.reset();
  for (const void* place : places) {
    const FaultyAddress found = ExplainAddress(place);
    ASSERT_EQ(found.kind, FaultyAddress::Kind::kEnded);
    EXPECT_STREQ(found.end->name.data(), kMethod);
    EXPECT_EQ(found.end->number, 1u);
  }
  EXPECT_EQ(ScopeEndFrame::Current(), nullptr);
}

// A limit that is a fiber's, as the adapters' WithinBudget() keeps it.
class FiberBudgetTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    AddFiberBudget([]() noexcept {
      TestFiber* const fiber = TestFiber::Current();
      return fiber == nullptr ? nullptr : fiber->budget;
    });
  }

  PagePool pool_{TestOptions()};
};

TEST_F(FiberBudgetTest, HoldsItsFiberAndNobodyElse) {
  Budget budget("request_bytes_max", kMiB);
  Arena limited(PageArenaOptions(pool_)), other(PageArenaOptions(pool_));
  bool refused = false;
  std::optional<TestFiber> fiber;
  fiber.emplace([&] {
    fiber->budget = &budget;
    try {
      static_cast<void>(Arena::CreateArray<char>(&limited, kMiB / 2));
      EXPECT_GE(budget.bytes_used(), kMiB / 2);
      fiber->Wait();
      EXPECT_EQ(BudgetFrame::Current(), &budget);
      static_cast<void>(Arena::CreateArray<char>(&limited, kMiB));
    } catch (const BudgetExceeded&) {
      refused = true;
    }
    fiber->budget = nullptr;
    EXPECT_EQ(BudgetFrame::Current(), nullptr);
  });
  fiber->Resume();
  const size_t before_bytes = budget.bytes_used();
  static_cast<void>(Arena::CreateArray<char>(&other, 2 * kMiB));
  EXPECT_EQ(budget.bytes_used(), before_bytes);
  {
    Budget of_thread("request_bytes_max");
    const BudgetFrame frame(of_thread);
    EXPECT_EQ(BudgetFrame::Current(), &of_thread);
  }
  fiber->ResumeOnAnotherThread();
  EXPECT_TRUE(refused);
  EXPECT_LE(budget.bytes_used(), kMiB + kPageBytes);
}

// Work without waits, such as a parse, has a frame of its own inside.
TEST_F(FiberBudgetTest, IsLessThanAFrame) {
  Budget of_fiber("request_bytes_max"), of_thread("request_bytes_max");
  std::optional<TestFiber> fiber;
  fiber.emplace([&] {
    fiber->budget = &of_fiber;
    {
      const BudgetFrame frame(of_thread);
      EXPECT_EQ(BudgetFrame::Current(), &of_thread);
    }
    EXPECT_EQ(BudgetFrame::Current(), &of_fiber);
  });
  fiber->Resume();
  EXPECT_TRUE(fiber->ended());
}

TEST(BudgetFrameDeathTest, OneThatWaitedAndMovedSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Budget budget("request_bytes_max");
  std::optional<TestFiber> fiber;
  fiber.emplace([&] {
    const BudgetFrame frame(budget);
    fiber->Wait();
  });
  fiber->Resume();
  EXPECT_DEATH(fiber->ResumeOnAnotherThread(),
               "BudgetFrame ended on another thread than it began on.*WithinBudget");
  fiber->Resume();
  EXPECT_TRUE(fiber->ended());
}

}  // namespace
}  // namespace harena::pb
