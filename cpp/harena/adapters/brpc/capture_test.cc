#include "harena/adapters/brpc/capture.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>

#include "harena/adapters/brpc/test_rig.h"
#include "harena/pb/capture/test_capture.h"
#include "harena/replay/v1/record.pb.h"

namespace harena::brpc {
namespace {

using google::protobuf::util::MessageDifferencer;

constexpr char kRunPath[] = "/harena.test.brpc.Work/Run";

class CaptureTest : public ModeTest {
 protected:
  // The one call that was captured is `task`, answered.
  void ExpectWritten(const Task& task) const {
    const std::vector<replay::v1::Record> written = folder_.Written();
    ASSERT_EQ(written.size(), 1u);
    EXPECT_EQ(written[0].method(), kRunPath);
    EXPECT_GT(written[0].time_unix_ms(), 1'600'000'000'000);
    Task request;
    Result response;
    ASSERT_TRUE(request.ParseFromString(written[0].request()));
    ASSERT_TRUE(response.ParseFromString(written[0].response()));
    EXPECT_TRUE(MessageDifferencer::Equals(request, task));
    EXPECT_TRUE(MessageDifferencer::Equals(response, Expected(task)));
  }

  // Calls a server of that mode by a protocol.
  void ExpectCaptured(const std::string& protocol) {
    pb::Capture capture({.directory = folder_.path(), .one_in = 1});
    Rig rig;
    CapturedService captured(capture, rig.service, {kRunPath});
    rig.served = &captured;
    rig.Start(GetParam());
    const auto channel = rig.Connect(protocol);
    test::brpc::Work::Stub stub(channel.get());
    Controller controller;
    Result result;
    const Task task = MakeTask();
    stub.Run(&controller, &task, &result, nullptr);
    ASSERT_FALSE(controller.Failed()) << controller.ErrorText();
    ASSERT_TRUE(Eventually([&] { return capture.stats().calls_written == 1; }));
    rig.ExpectAllMemoryBack();
    rig.Stop();
  }

  pb::CaptureFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Modes, CaptureTest,
                         ::testing::Values(Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse,
                                           Mode::kCodec),
                         ModeName);

TEST_P(CaptureTest, ACallIsCapturedAsItWasOnTheWire) {
  ExpectCaptured("baidu_std");
  ExpectWritten(MakeTask());
}

TEST_P(CaptureTest, JsonOverHttpIsCapturedAsMessages) {
  ExpectCaptured("http");
  ExpectWritten(MakeTask());
}

TEST_P(CaptureTest, GrpcIsCapturedToo) {
  ExpectCaptured("h2:grpc");
  ExpectWritten(MakeTask());
}

TEST_P(CaptureTest, WhatFailsIsNotCaptured) {
  {
    pb::Capture capture({.directory = folder_.path(), .one_in = 1});
    Rig rig;
    CapturedService captured(capture, rig.service, {kRunPath});
    rig.served = &captured;
    rig.service.on_run = [](Controller* controller, const Task*, Result*, Closure* done) {
      controller->SetFailed(1234, "not today");
      done->Run();
    };
    rig.Start(GetParam());
    EXPECT_EQ(rig.Run(MakeTask()), 1234);
    ASSERT_TRUE(Eventually([&] { return capture.stats().calls_dropped == 1; }));
    rig.service.on_run = [](Controller* controller, const Task* task, Result* result,
                            Closure* done) {
      controller->set_after_rpc_resp_fn([](auto&&...) {});
      Answer(*task, result);
      done->Run();
    };
    EXPECT_EQ(rig.Run(MakeTask()), 0);
    ASSERT_TRUE(Eventually([&] { return capture.stats().calls_dropped == 2; }));
    rig.Stop();
  }
  EXPECT_TRUE(folder_.Written().empty());
}

using CapturedServiceTest = CaptureTest;

TEST_F(CapturedServiceTest, APlainServerIsCapturedToo) {
  {
    pb::Capture capture({.directory = folder_.path(), .one_in = 1});
    HookedService service;
    CapturedService captured(capture, service, {kRunPath});
    ::brpc::Server server;
    ASSERT_EQ(server.AddService(&captured, ::brpc::SERVER_DOESNT_OWN_SERVICE), 0);
    ASSERT_EQ(server.Start("127.0.0.1:0", nullptr), 0);
    ::brpc::Channel channel;
    ASSERT_EQ(channel.Init(server.listen_address(), nullptr), 0);
    test::brpc::Work::Stub stub(&channel);
    Controller controller;
    controller.set_timeout_ms(60'000);
    Result result;
    const Task task = MakeTask();
    stub.Run(&controller, &task, &result, nullptr);
    EXPECT_FALSE(controller.Failed()) << controller.ErrorText();
    EXPECT_TRUE(Eventually([&] { return capture.stats().calls_written == 1; }));
    server.Stop(0);
    server.Join();
  }
  ExpectWritten(MakeTask());
}

TEST_F(CapturedServiceTest, OtherMethodsAndOtherCallsAreNotTouched) {
  pb::Capture capture({.directory = folder_.path(), .one_in = 3});
  Rig rig;
  CapturedService captured(capture, rig.service, {kRunPath});
  rig.served = &captured;
  rig.Start(Mode::kCodec);
  EXPECT_THAT(rig.Http("/harena.test.brpc.Work/Hold", R"({"task": {"text": "t"}})"),
              ::testing::HasSubstr("held: t"));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(rig.Run(MakeTask()), 0);
  EXPECT_TRUE(Eventually([&] { return capture.stats().calls_written == 2; }));
  EXPECT_EQ(capture.stats().calls_dropped, 0u);
  rig.Stop();
}

TEST_F(CapturedServiceTest, AMethodThatIsNotThereIsSaid) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  pb::Capture capture({.directory = folder_.path()});
  HookedService service;
  EXPECT_DEATH(CapturedService(capture, service, {kRunPath, "/harena.test.brpc.Work/Walk"}),
               "no method \"/harena.test.brpc.Work/Walk\"; it has: /harena.test.brpc.Work/Run");
}

}  // namespace
}  // namespace harena::brpc
