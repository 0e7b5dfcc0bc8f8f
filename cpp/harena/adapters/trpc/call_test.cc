// Calls whose messages are one.
#include "harena/adapters/trpc/call.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "harena/adapters/trpc/test_call.h"
#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/call/test_reusable.h"

namespace harena::trpc {
namespace {

using Call = ClientCall<Task, Result>;

/// What a proxy's UnaryInvoke() does with the messages that it is given, and a server in between.
void Invoke(const Task& request, Result* response) {
  TestCall<Task, Result> call;
  ASSERT_TRUE(call.Read(SerializeAsTrpc(request)));
  Answer(call.request(), &call.response());
  ASSERT_TRUE(ParseAsTrpc(call.Write(), response));
}

class Calls : public ::testing::TestWithParam<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, Calls,
                         ::testing::Values(Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse,
                                           Mode::kCodec),
                         [](const auto& info) { return std::string(ToString(info.param)); });

TEST_P(Calls, Recycled) {
  PagePool pool;
  {
    CallPool<Call> calls({.mode = GetParam(), .page_pool = &pool});
    for (int round = 0; round < 20; ++round) {
      Call call = calls.Acquire();
      EXPECT_EQ(call.request().ByteSizeLong(), 0u);
      EXPECT_EQ(call.response().ByteSizeLong(), 0u);
      const Task task = MakeTask(round * 10);
      call.request() = task;
      Invoke(call.request(), &call.response());
      EXPECT_TRUE(MessageDifferencer::Equals(call.response(), Expected(task)));
      // A response is the caller's, to be changed as he likes.
      call.response().mutable_text()->append("changed, and grown beyond what it was before");
      call.response().mutable_items()->Clear();
    }
    EXPECT_EQ(calls.stats().scopes_made, 20u);
    EXPECT_EQ(calls.stats().scopes_live(), 0u);
    EXPECT_EQ(pool.stats().bytes_in_use, calls.kept().bytes_idle);
    EXPECT_EQ(calls.kept().instances_built > 0, GetParam() == Mode::kReuse);
    EXPECT_LT(calls.kept().instances_built, 10u);
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

// Nothing of a call is refused: where the process's limit is used up, its memory goes beyond it.
TEST_P(Calls, AtTheProcessLimit) {
  PagePool pool;
  const size_t before_bytes = ProcessBudget().bytes_used();
  {
    CallPool<Call> calls({.mode = GetParam(), .page_pool = &pool});
    ProcessBudget().set_bytes_max(1);
    for (int round = 0; round < 3; ++round) {
      Call call = calls.Acquire();
      const Task task = MakeTask(1000);
      call.request() = task;
      Invoke(call.request(), &call.response());
      EXPECT_TRUE(MessageDifferencer::Equals(call.response(), Expected(task)));
      EXPECT_GT(ProcessBudget().bytes_used(), before_bytes) << "counted all the same";
    }
    ProcessBudget().set_bytes_max(kUnlimitedBytes);
    EXPECT_EQ(calls.stats().scopes_refused, 0u);
    EXPECT_EQ(calls.stats().scopes_live(), 0u);
  }
  pool.Trim();
  EXPECT_EQ(ProcessBudget().bytes_used(), before_bytes);
}

TEST_P(Calls, OutliveTheirPool) {
  PagePool pool;
  {
    auto calls = std::make_unique<CallPool<Call>>(Options{.mode = GetParam(), .page_pool = &pool});
    Call call = calls->Acquire();
    calls.reset();
    Invoke(MakeTask(), &call.response());
    EXPECT_TRUE(MessageDifferencer::Equals(call.response(), Expected(MakeTask())));
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

// Counted, but not refused: tRPC's frames must not meet an exception.
TEST(CallsLimits, ResponsesLargerThanTheLimit) {
  for (const Mode mode : {Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec}) {
    CallPool<Call> calls({.mode = mode, .request_bytes_max = 128 << 10});
    Call call = calls.Acquire();
    const Task task = MakeTask(3000);
    Invoke(task, &call.response());
    EXPECT_TRUE(MessageDifferencer::Equals(call.response(), Expected(task)));
  }
}

TEST(CallsReuse, MessagesThatCannotBeKeptArePages) {
  if (!pb::DropsInClear(&Holder::mutable_task)) GTEST_SKIP() << "this protobuf keeps them";
  CallPool<ClientCall<Holder, Holder>> calls({.mode = Mode::kReuse});
  auto call = calls.Acquire();
  EXPECT_NE(PagePool::OwnerOf(&call.request()), nullptr);
  EXPECT_EQ(calls.kept().instances_built, 0u);
}

TEST(CallsDeathTest, AScopeWhoseMessagesMayThrow) {
  EXPECT_DEATH(Call{Scope()}, "tRPC fills this scope's messages in frames of its own");
}

}  // namespace
}  // namespace harena::trpc
