// Calls whose controller and messages are one.
#include "harena/adapters/brpc/call.h"

#include <atomic>
#include <memory>
#include <string>

#include <brpc/parallel_channel.h>
#include <google/protobuf/util/message_differencer.h>

#include "harena/adapters/brpc/test_rig.h"
#include "harena/mem/budget.h"

namespace harena::brpc {
namespace {

using Call = ClientCall<Task, Result>;
using google::protobuf::util::MessageDifferencer;

class Calls : public ModeTest {};
INSTANTIATE_TEST_SUITE_P(Modes, Calls, ::testing::ValuesIn(kModes), ModeName);

TEST_P(Calls, SynchronousAndRecycled) {
  Rig rig;
  rig.Start(GetParam());
  const auto channel = rig.Connect();
  test::brpc::Work::Stub stub(channel.get());
  for (const Mode mode : {Mode::kPages, Mode::kReuse, Mode::kCodec}) {
    CallPool<Call> calls({.mode = mode, .page_pool = &rig.pool()});
    for (int round = 0; round < 5; ++round) {
      Call call = calls.Acquire();
      EXPECT_EQ(call.request().ByteSizeLong(), 0u);
      EXPECT_EQ(call.response().ByteSizeLong(), 0u);
      call.request() = MakeTask(round * 10);
      stub.Run(&call.controller(), &call.request(), &call.response(), nullptr);
      ASSERT_FALSE(call.controller().Failed()) << call.controller().ErrorText();
      EXPECT_TRUE(MessageDifferencer::Equals(call.response(), Expected(call.request())));
      EXPECT_EQ(PagePool::OwnerOf(&call.response()), &rig.pool());
    }
    EXPECT_EQ(calls.stats().scopes_made, 5u);
    EXPECT_EQ(calls.stats().scopes_live(), 0u);
    EXPECT_EQ(calls.kept().instances_built != 0, mode == Mode::kReuse);
    EXPECT_LT(calls.kept().instances_built, 5u);
  }
  rig.ExpectAllMemoryBack();
}

// brpc makes messages of its own for each part of the call, and merges what came into the call's.
TEST_P(Calls, ThroughAParallelChannel) {
  Rig rig;
  rig.Start(GetParam());
  ::brpc::ParallelChannel all;
  ::brpc::ParallelChannelOptions options;
  options.timeout_ms = 60'000;
  ASSERT_EQ(all.Init(&options), 0);
  constexpr int kParts = 3;
  for (int i = 0; i < kParts; ++i) {
    ASSERT_EQ(all.AddChannel(rig.Connect().release(), ::brpc::OWNS_CHANNEL, nullptr, nullptr), 0);
  }
  test::brpc::Work::Stub stub(&all);
  for (const Mode mode : {Mode::kPages, Mode::kReuse, Mode::kCodec}) {
    CallPool<Call> calls({.mode = mode, .page_pool = &rig.pool()});
    for (int round = 0; round < 20; ++round) {
      Call call = calls.Acquire();
      call.request() = MakeTask(round);
      stub.Run(&call.controller(), &call.request(), &call.response(), nullptr);
      ASSERT_FALSE(call.controller().Failed()) << call.controller().ErrorText();
      Result expected;
      for (int i = 0; i < kParts; ++i) expected.MergeFrom(Expected(call.request()));
      EXPECT_TRUE(MessageDifferencer::Equals(call.response(), expected));
    }
  }
  rig.ExpectAllMemoryBack();
}

// Nothing of a call is refused: where the process's limit is used up, its memory goes beyond it.
TEST(Calls, AtTheProcessLimit) {
  Rig rig;
  rig.Start(Mode::kHeap);
  const auto channel = rig.Connect();
  test::brpc::Work::Stub stub(channel.get());
  PagePool pool;
  for (const Mode mode : kModes) {
    CallPool<Call> calls({.mode = mode, .page_pool = &pool});
    ProcessBudget().set_bytes_max(1);
    for (int round = 0; round < 3; ++round) {
      Call call = calls.Acquire();
      call.request() = MakeTask(1000);
      stub.Run(&call.controller(), &call.request(), &call.response(), nullptr);
      EXPECT_FALSE(call.controller().Failed()) << call.controller().ErrorText();
      EXPECT_TRUE(MessageDifferencer::Equals(call.response(), Expected(call.request())));
    }
    ProcessBudget().set_bytes_max(kUnlimitedBytes);
    EXPECT_EQ(calls.stats().scopes_refused, 0u);
  }
}

struct Finish : Closure {
  void Run() override {
    right = !call->controller().Failed() &&
            MessageDifferencer::Equals(call->response(), Expected(call->request()));
    call.reset();
    finished = true;
  }
  std::unique_ptr<Call> call;
  std::atomic<bool> finished{false};
  bool right = false;
};

TEST(Calls, AsynchronousEndsInDone) {
  Rig rig;
  rig.Start(Mode::kCodec);
  const auto channel = rig.Connect("h2:grpc");
  test::brpc::Work::Stub stub(channel.get());
  CallPool<Call> calls({.page_pool = &rig.pool()});
  for (int round = 0; round < 5; ++round) {
    Finish finish;
    finish.call = std::make_unique<Call>(calls.Acquire());
    finish.call->request() = MakeTask();
    Call& call = *finish.call;
    stub.Run(&call.controller(), &call.request(), &call.response(), &finish);
    EXPECT_TRUE(Eventually([&] { return finish.finished.load(); }));
    EXPECT_TRUE(finish.right);
  }
  rig.ExpectAllMemoryBack();
}

TEST(CallsDeathTest, AScopeWhoseMessagesMayThrow) {
  EXPECT_DEATH(Call{Scope()}, "brpc fills this scope's messages in frames of its own");
}

}  // namespace
}  // namespace harena::brpc
