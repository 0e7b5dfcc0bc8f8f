#include "harena/adapters/grpc/capture.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"
#include "harena/pb/capture/test_capture.h"
#include "harena/replay/v1/record.pb.h"

namespace harena::grpc {
namespace {

bool Equals(const google::protobuf::Message& one, const google::protobuf::Message& other) {
  return google::protobuf::util::MessageDifferencer::Equals(one, other);
}

Result Expected() {
  Result result;
  Answer(MakeTask(), &result);
  return result;
}

class CaptureInterceptorsTest : public testing::TestWithParam<Mode> {
 protected:
  static std::function<void(::grpc::ServerBuilder&)> Capturing(pb::Capture& capture,
                                                               std::set<std::string> methods = {
                                                                   kRun}) {
    return [&capture, methods](::grpc::ServerBuilder& builder) {
      std::vector<std::unique_ptr<::grpc::experimental::ServerInterceptorFactoryInterface>>
          creators;
      creators.push_back(std::make_unique<CaptureInterceptors>(capture, methods));
      builder.experimental().SetInterceptorCreators(std::move(creators));
    };
  }

  std::vector<replay::v1::Record> Written() const { return folder_.Written(); }

  pb::CaptureFolder folder_;
};

TEST_P(CaptureInterceptorsTest, ACallIsCapturedAsItWasOnTheWire) {
  {
    pb::Capture capture({.directory = folder_.path(), .one_in = 1});
    Rig<> rig;
    rig.Start({.defaults = {.mode = GetParam()}}, Capturing(capture));
    Result result;
    ASSERT_TRUE(rig.Run(MakeTask(), &result).ok());
    EXPECT_TRUE(Equals(result, Expected()));
    ASSERT_TRUE(Eventually([&] { return capture.stats().calls_written == 1; }));
    rig.Stop();
  }
  const std::vector<replay::v1::Record> written = Written();
  ASSERT_EQ(written.size(), 1u);
  EXPECT_EQ(written[0].method(), kRun);
  EXPECT_GT(written[0].time_unix_ms(), 1'600'000'000'000);
  // Maps come in any order, so the messages are compared and not the bytes.
  Task request;
  Result response;
  ASSERT_TRUE(request.ParseFromString(written[0].request()));
  ASSERT_TRUE(response.ParseFromString(written[0].response()));
  EXPECT_TRUE(Equals(request, MakeTask()));
  EXPECT_TRUE(Equals(response, Expected()));
}

TEST_P(CaptureInterceptorsTest, WhatFailsIsNotCaptured) {
  {
    pb::Capture capture({.directory = folder_.path(), .one_in = 1});
    Rig<> rig;
    rig.service.on_run = [](::grpc::CallbackServerContext*, const Task*, Result*) {
      return FinishNow({::grpc::StatusCode::NOT_FOUND, "not there"});
    };
    rig.Start({.defaults = {.mode = GetParam()}}, Capturing(capture));
    EXPECT_EQ(rig.Run(MakeTask()).error_code(), ::grpc::StatusCode::NOT_FOUND);
    EXPECT_FALSE(rig.RunRaw("\xff\xff").ok());
    ASSERT_TRUE(Eventually([&] { return capture.stats().calls_dropped == 2; }));
    EXPECT_EQ(capture.stats().calls_written, 0u);
    rig.Stop();
  }
  EXPECT_TRUE(Written().empty());
}

INSTANTIATE_TEST_SUITE_P(Modes, CaptureInterceptorsTest,
                         testing::Values(Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse,
                                         Mode::kCodec),
                         [](const auto& info) { return std::string(ToString(info.param)); });

TEST_F(CaptureInterceptorsTest, OtherMethodsAndOtherCallsAreNotTouched) {
  pb::Capture capture({.directory = folder_.path(), .one_in = 3});
  Rig<> rig;
  rig.Start({.defaults = {.mode = Mode::kPages}}, Capturing(capture));
  std::string answer;
  EXPECT_TRUE(rig.RunRaw("", &answer, kHold).ok());
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(rig.Run(MakeTask()).ok());
  ASSERT_TRUE(Eventually([&] { return capture.stats().calls_written == 2; }));
  rig.Stop();
}

TEST_F(CaptureInterceptorsTest, APlainServiceIsCapturedToo) {
  pb::Capture capture({.directory = folder_.path(), .one_in = 1});
  Rig<> rig;
  rig.StartPlain(Capturing(capture));
  EXPECT_TRUE(rig.Run(MakeTask()).ok());
  ASSERT_TRUE(Eventually([&] { return capture.stats().calls_written == 1; }));
  rig.Stop();
}

// A synchronous service, whose streams echo.
class StreamService final : public test::Work::Service {
  using Status = ::grpc::Status;

  Status Pour(::grpc::ServerContext*, const Task* task,
              ::grpc::ServerWriter<Result>* stream) override {
    for (int i = 0; i < 3; ++i) stream->Write(Echo(*task));
    return Status::OK;
  }
  Status Gather(::grpc::ServerContext*, ::grpc::ServerReader<Task>* stream,
                Result* result) override {
    for (Task task; stream->Read(&task);) *result = Echo(task);
    return Status::OK;
  }
  Status Chat(::grpc::ServerContext*, ::grpc::ServerReaderWriter<Result, Task>* stream) override {
    for (Task task; stream->Read(&task);) stream->Write(Echo(task));
    return Status::OK;
  }
  static Result Echo(const Task& task) {
    Result result;
    result.set_text("re: " + task.text());
    return result;
  }
};

class CaptureStreamsTest : public CaptureInterceptorsTest {
 protected:
  static Task Named(const std::string& text) {
    Task task;
    task.set_text(text);
    return task;
  }

  void Pour(test::Work::Stub& stub) {
    ::grpc::ClientContext context;
    const auto stream = stub.Pour(&context, Named("p"));
    int count = 0;
    for (Result result; stream->Read(&result);) ++count;
    EXPECT_TRUE(stream->Finish().ok());
    EXPECT_EQ(count, 3);
  }
  void Gather(test::Work::Stub& stub) {
    ::grpc::ClientContext context;
    Result result;
    const auto stream = stub.Gather(&context, &result);
    for (const char* text : {"a", "b", "c"}) EXPECT_TRUE(stream->Write(Named(text)));
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
  }
  void Chat(test::Work::Stub& stub, int count = 3) {
    ::grpc::ClientContext context;
    const auto stream = stub.Chat(&context);
    Result result;
    for (int i = 0; i < count; ++i) {
      EXPECT_TRUE(stream->Write(Named(std::to_string(i))));
      EXPECT_TRUE(stream->Read(&result));
    }
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
  }

  // What is in the files of one method, as "request>response".
  std::vector<std::string> Of(const std::string& method) const {
    std::vector<std::string> all;
    for (const replay::v1::Record& record : Written()) {
      if (record.method() != method) continue;
      Task request;
      Result response;
      EXPECT_TRUE(request.ParseFromString(record.request()));
      EXPECT_TRUE(response.ParseFromString(record.response()));
      all.push_back(request.text() + (record.has_response() ? ">" + response.text() : ""));
    }
    return all;
  }
};

constexpr char kPour[] = "/harena.test.Work/Pour";
constexpr char kGather[] = "/harena.test.Work/Gather";
constexpr char kChat[] = "/harena.test.Work/Chat";

TEST_F(CaptureStreamsTest, MessagesAreCalls) {
  {
    pb::Capture capture({.directory = folder_.path(), .one_in = 1});
    Rig<StreamService> rig;
    rig.StartPlain(Capturing(capture, {kPour, kGather, kChat}));
    Pour(rig.stub());
    Gather(rig.stub());
    Chat(rig.stub());
    rig.Stop();
    EXPECT_EQ(capture.stats().calls_dropped, 0u);
  }
  using Texts = std::vector<std::string>;
  EXPECT_EQ(Of(kPour), (Texts{"p>re: p", ">re: p", ">re: p"}));
  EXPECT_EQ(Of(kGather), (Texts{"a", "b", "c>re: c"}));
  EXPECT_EQ(Of(kChat), (Texts{"0>re: 0", "1>re: 1", "2>re: 2"}));
}

TEST_F(CaptureStreamsTest, OneCallInSoManyAndOtherMethodsNot) {
  {
    pb::Capture capture({.directory = folder_.path(), .one_in = 3});
    Rig<StreamService> rig;
    rig.StartPlain(Capturing(capture, {kChat}));
    Pour(rig.stub());
    Chat(rig.stub(), 7);
    rig.Stop();
    EXPECT_EQ(capture.stats().calls_dropped, 0u);
  }
  EXPECT_EQ(Of(kChat), (std::vector<std::string>{"0>re: 0", "3>re: 3", "6>re: 6"}));
  EXPECT_TRUE(Of(kPour).empty());
}

TEST_F(CaptureStreamsTest, WhatIsTooLargeIsDroppedAndTheStreamGoesOn) {
  pb::Capture capture({.directory = folder_.path(), .one_in = 1, .call_bytes_max = 3});
  Rig<StreamService> rig;
  rig.StartPlain(Capturing(capture, {kChat}));
  Chat(rig.stub());
  rig.Stop();
  EXPECT_EQ(capture.stats().calls_dropped, 3u);
}

// Of what a completion queue's API sends, gRPC shows interceptors the bytes and not the message.
TEST_F(CaptureInterceptorsTest, ACompletionQueuesCallIsCapturedToo) {
  using AsyncService = test::Work::WithAsyncMethod_Run<test::Work::Service>;
  {
    pb::Capture capture({.directory = folder_.path(), .one_in = 1});
    std::unique_ptr<::grpc::ServerCompletionQueue> queue;
    Rig<AsyncService> rig;
    rig.StartPlain([&](::grpc::ServerBuilder& builder) {
      Capturing(capture)(builder);
      queue = builder.AddCompletionQueue();
    });
    ::grpc::ServerContext context;
    Task task;
    ::grpc::ServerAsyncResponseWriter<Result> responder(&context);
    rig.service.RequestRun(&context, &task, &responder, queue.get(), queue.get(), nullptr);
    std::thread server([&] {
      void* tag = nullptr;
      bool ok = false;
      ASSERT_TRUE(queue->Next(&tag, &ok) && ok);
      Result result;
      Answer(task, &result);
      responder.Finish(result, ::grpc::Status::OK, nullptr);
      ASSERT_TRUE(queue->Next(&tag, &ok) && ok);
    });
    EXPECT_TRUE(rig.Run(MakeTask()).ok());
    server.join();
    rig.Stop();
    queue->Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue->Next(&tag, &ok)) {
    }
  }
  const std::vector<replay::v1::Record> written = Written();
  ASSERT_EQ(written.size(), 1u);
  Result response;
  ASSERT_TRUE(response.ParseFromString(written[0].response()));
  EXPECT_TRUE(Equals(response, Expected()));
}

}  // namespace
}  // namespace harena::grpc
