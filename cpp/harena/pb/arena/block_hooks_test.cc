// protobuf arenas on the page pool, without a scope.
#include "harena/pb/arena/block_hooks.h"

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/layout/names.h"
#include "harena/test/shapes.pb.h"

namespace harena::pb {
namespace {

using google::protobuf::Arena;
using harena::test::Shapes;

constexpr size_t kPageBytes = 64 * kKiB;

// An arena that EndArena() has to destroy.
class EndedArena {
 public:
  explicit EndedArena(PagePool& pool) { ::new (place_) Arena(EndedArenaOptions(pool)); }
  Arena& operator*() noexcept { return *std::launder(reinterpret_cast<Arena*>(place_)); }
  Arena* operator->() noexcept { return &**this; }

 private:
  alignas(Arena) std::byte place_[sizeof(Arena)];
};

char* Take(Arena& arena, size_t bytes) { return Arena::CreateArray<char>(&arena, bytes); }

TEST(BlockHooks, BlocksArePages) {
  PagePool pool(TestOptions());
  {
    Arena arena(PageArenaOptions(pool));
    Take(arena, 100);
    EXPECT_EQ(pool.stats().bytes_in_use, kPageBytes);
    size_t taken = 0;
    for (; taken < 3 * kMiB; taken += 1000) Take(arena, 1000);
    EXPECT_LE(pool.stats().blocks_allocated, taken / (kPageBytes - 2000) + 1);
    EXPECT_EQ(pool.stats().bytes_in_use, pool.stats().blocks_allocated * kPageBytes);
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(BlockHooks, LargeObjectsGetBlocksOfTheirOwn) {
  PagePool pool(TestOptions());
  {
    Arena arena(PageArenaOptions(pool));
    for (const size_t bytes : {300 * kKiB, 5 * kMiB, 40 * kMiB}) {
      char* data = Take(arena, bytes);
      Stamp(data, bytes, bytes);
      EXPECT_TRUE(HasStamp(data, bytes, bytes));
      EXPECT_EQ(PagePool::OwnerOf(data), &pool);
    }
    EXPECT_GE(pool.stats().bytes_in_use, 45 * kMiB);
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(BlockHooks, ArenasOfTwoPoolsStayApart) {
  PagePool one(TestOptions());
  PagePool two(TestOptions());
  Arena of_one(PageArenaOptions(one));
  Arena of_two(PageArenaOptions(two));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(PagePool::OwnerOf(Take(of_one, 1000)), &one);
    EXPECT_EQ(PagePool::OwnerOf(Take(of_two, 1000)), &two);
  }
  of_one.Reset();
  EXPECT_LE(one.stats().bytes_in_use, 256 * kKiB);
  EXPECT_GE(two.stats().bytes_in_use, 1000 * size_t{1000});
}

TEST(BlockHooks, TheDefaultPoolServesWithoutArguments) {
  Arena arena(PageArenaOptions());
  EXPECT_EQ(PagePool::OwnerOf(CreateOn<Shapes>(arena)), &PagePool::Default());
}

TEST(BlockHooks, AnArenaMayEndOnAnotherThread) {
  PagePool pool(TestOptions());
  auto arena = std::make_unique<Arena>(PageArenaOptions(pool));
  auto* message = CreateOn<Shapes>(*arena);
  for (int i = 0; i < 10'000; ++i) message->add_texts("some text that is no longer than it was");
  std::thread([&] { arena.reset(); }).join();
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  EXPECT_TRUE(AddsUp(pool.stats()));
}

TEST(BlockHooks, AFrameIsChargedAndRefuses) {
  PagePool pool(TestOptions());
  Budget budget("request_bytes_max", kMiB);
  Arena arena(PageArenaOptions(pool));
  const BudgetFrame frame(budget);
  try {
    for (;;) Take(arena, 1000);
  } catch (const BudgetExceeded& exceeded) {
    EXPECT_STREQ(exceeded.refusal().limit, "request_bytes_max");
    EXPECT_THAT(exceeded.what(), testing::HasSubstr("request_bytes_max is 1048576"));
  }
  EXPECT_GE(budget.bytes_used(), kMiB / 2);
  EXPECT_LE(budget.bytes_used(), kMiB + kPageBytes);
  EXPECT_EQ(pool.stats().bytes_in_use, budget.bytes_used() + kPageBytes);  // the first was unframed
}

// An array of 2^k numbers has a header: its block is twice as large, and that is what is charged.
TEST(BlockHooks, TheWholeBlockIsCharged) {
  PagePool pool(TestOptions());
  Budget budget("request_bytes_max");
  const BudgetFrame frame(budget);
  Arena arena(PageArenaOptions(pool));
  for (const size_t bytes : {100 * kKiB, 512 * kKiB, 5 * kMiB, 40 * kMiB}) {
    Take(arena, bytes);
    EXPECT_EQ(budget.bytes_used(), pool.stats().bytes_in_use);
  }
}

// The blocks' order on the pool's stack, after a request on several pages.
TEST(BlockHooks, AnEndedArenaLeavesTheNewestPageOnTop) {
  PagePool pool(TestOptions());
  std::vector<const void*> pages;
  pages.reserve(5);
  EndedArena arena(pool);
  for (int i = 0; i < 5; ++i) {
    pages.push_back(Take(*arena, kPageBytes - 1000));  // one page each
  }
  EXPECT_EQ(EndArena(*arena, nullptr), pages.size());
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  Arena next(PageArenaOptions(pool));
  const auto page_of = [](const void* data) {
    return reinterpret_cast<uintptr_t>(data) / kPageBytes;
  };
  EXPECT_EQ(page_of(Take(next, 1000)), page_of(pages.back()));
}

// Nobody should reset an arena of a scope, but a message of it is all that is needed to.
TEST(BlockHooks, TheBlocksOfAResetComeBackToo) {
  PagePool pool(TestOptions());
  EndedArena arena(pool);
  const auto reset = [&] {
    for (int i = 0; i < 5; ++i) Take(*arena, kPageBytes - 1000);
    arena->Reset();
  };
  std::thread(reset).join();
  EXPECT_EQ(pool.stats().bytes_in_use, kPageBytes) << "when the thread has ended";
  reset();
  EndArena(*arena, nullptr);
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(BlockHooks, FramesNestAndBelongToTheirThread) {
  EXPECT_EQ(BudgetFrame::Current(), nullptr);
  Budget outer_budget("request_bytes_max");
  Budget inner_budget("request_bytes_max");
  {
    const BudgetFrame outer(outer_budget);
    {
      const BudgetFrame inner(inner_budget);
      EXPECT_EQ(BudgetFrame::Current(), &inner_budget);
      std::thread([] { EXPECT_EQ(BudgetFrame::Current(), nullptr); }).join();
    }
    EXPECT_EQ(BudgetFrame::Current(), &outer_budget);
  }
  EXPECT_EQ(BudgetFrame::Current(), nullptr);
}

TEST(BlockHooks, ARefusedBlockIsNotCharged) {
  FailingPageSource source;
  PagePool pool(TestOptions(), source);
  Budget budget("request_bytes_max");
  Arena arena(PageArenaOptions(pool));
  const BudgetFrame frame(budget);
  const uint64_t before = SystemRefusals();
  source.FailAfter(0);
  try {
    Take(arena, 40 * kMiB);
    FAIL() << "memory from nowhere";
  } catch (const BudgetExceeded& exceeded) {
    EXPECT_STREQ(exceeded.refusal().limit, "memory");
  }
  EXPECT_EQ(budget.bytes_used(), 0u);
  EXPECT_EQ(SystemRefusals(), before + 1);
  source.Heal();
}

class OverrunTest : public testing::Test {
 protected:
  ~OverrunTest() override { ProcessBudget().set_bytes_max(kUnlimitedBytes); }
  static PagePoolOptions Counted() {
    PagePoolOptions options = TestOptions();
    options.budget = &ProcessBudget();
    return options;
  }
};

// Nobody above would catch: the memory is given, and the overrun is counted.
TEST_F(OverrunTest, WithoutAFrameMemoryIsGivenAllTheSame) {
  PagePool pool(Counted());
  const size_t before_bytes = ProcessBudget().bytes_used();
  {
    Arena arena(PageArenaOptions(pool));
    const size_t framed_bytes = ProcessBudget().bytes_used();
    ProcessBudget().set_bytes_max(framed_bytes);
    const uint64_t before = UnframedOverruns();
    for (int i = 0; i < 300; ++i) Stamp(Take(arena, 1000), 1000, 1);
    EXPECT_GT(UnframedOverruns(), before);
    EXPECT_GE(ProcessBudget().bytes_used(), framed_bytes + 200'000);  // counted, not forgotten
  }
  pool.Trim();
  EXPECT_EQ(ProcessBudget().bytes_used(), before_bytes);
}

TEST_F(OverrunTest, TheOverrunRuleNeverThrowsInsideAFrame) {
  PagePool pool(Counted());
  Budget budget("request_bytes_max", kPageBytes);
  {
    Arena arena(PageArenaOptions(pool, WhenRefused::kOverrun));
    const BudgetFrame frame(budget);
    EXPECT_NO_THROW(Take(arena, kMiB));
    // "Counted but never refused": the request's bytes show, above its limit.
    EXPECT_GE(budget.bytes_used(), kMiB);
    ProcessBudget().set_bytes_max(ProcessBudget().bytes_used());
    const uint64_t before = UnframedOverruns();
    EXPECT_NO_THROW(Take(arena, 3 * kMiB));
    EXPECT_GT(UnframedOverruns(), before);
  }
}

TEST_F(OverrunTest, MallocedBlocksAreCountedAndGivenBack) {
  const size_t before_bytes = ProcessBudget().bytes_used();
  Budget budget("request_bytes_max", kMiB);
  {
    Arena arena(MallocArenaOptions());
    EXPECT_GT(ProcessBudget().bytes_used(), before_bytes);
    {
      const BudgetFrame frame(budget);
      EXPECT_THROW(
          {
            for (;;) Take(arena, 1000);
          },
          BudgetExceeded);
    }
    EXPECT_GE(budget.bytes_used(), kMiB * 9 / 10);
    EXPECT_LE(budget.bytes_used(), kMiB + PagePool::Default().options().page_bytes);
    EXPECT_GE(ProcessBudget().bytes_used(), before_bytes + kMiB * 9 / 10);
    ProcessBudget().set_bytes_max(ProcessBudget().bytes_used());
    {
      const BudgetFrame frame(budget);
      budget.set_bytes_max(kUnlimitedBytes);
      try {
        Take(arena, 100'000);
        FAIL() << "the process's limit was not held";
      } catch (const BudgetExceeded& exceeded) {
        EXPECT_STREQ(exceeded.refusal().limit, "process_bytes_max");
      }
    }
    const uint64_t before = UnframedOverruns();
    EXPECT_NO_THROW(Stamp(Take(arena, 100'000), 100'000, 1));
    EXPECT_EQ(UnframedOverruns(), before + 1);
  }
  EXPECT_EQ(ProcessBudget().bytes_used(), before_bytes);
}

}  // namespace
}  // namespace harena::pb
