// Captures of a real tRPC server, over loopback: of tRPC's own handlers, and of those on scopes.
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <trpc/client/make_client_context.h>

#include "harena/adapters/trpc/capture_filter.h"
#include "harena/adapters/trpc/services.h"
#include "harena/adapters/trpc/test_server.h"
#include "harena/pb/capture/test_capture.h"
#include "harena/replay/v1/record.pb.h"

namespace harena::trpc {
namespace {

// Requests that the services answer otherwise, by their number.
constexpr int kFails = 1, kLater = 2, kLaterNothing = 3, kMany = 3;

Status Serve(const ServerContextPtr& context, const Task& task, Result& result) {
  Answer(task, &result);
  if (task.number() == kFails) return Status(-1, 77, "not today");
  if (task.number() != kLater && task.number() != kLaterNothing) return ::trpc::kSuccStatus;
  context->SetResponse(false);
  std::thread([context, own = result, fails = task.number() == kLaterNothing]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (fails) {
      context->SendUnaryResponse(Status(-1, 78, "not later either"));
    } else {
      context->SendUnaryResponse(::trpc::kSuccStatus, own);
    }
  }).detach();
  return ::trpc::kSuccStatus;
}

struct Captured {
  explicit Captured(const std::string& folder)
      : capture(std::in_place, pb::CaptureOptions{.directory = folder, .one_in = 1}) {
    service->on_run = &Serve;
    EXPECT_TRUE(service->GetFilterController().AddMessageServerFilter(
        std::make_shared<CaptureFilter>(*capture, std::set<std::string>{kRun})));
  }

  std::optional<pb::Capture> capture;
  std::shared_ptr<WorkService> service = std::make_shared<WorkService>();
};

Task Numbered(int number) {
  Task task = MakeTask();
  task.set_number(number);
  return task;
}

void Call(const TestServer& server, const std::string& name) {
  const auto proxy = server.Proxy(name);
  const auto code = [&](int number) {
    Result result;
    const Status status = proxy->Run(::trpc::MakeClientContext(proxy), Numbered(number), &result);
    if (status.OK()) {
      EXPECT_TRUE(MessageDifferencer::Equals(result, Expected(Numbered(number))));
    }
    return status.GetFuncRetCode();
  };
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(code(10 + i), 0);
  EXPECT_EQ(code(kFails), 77);
  EXPECT_EQ(code(kLater), 0);
  EXPECT_EQ(code(kLaterNothing), 78);

  RawClient raw(server.port(name));
  ASSERT_TRUE(raw.Send(RawClient::Frame(kHold, "")));
  EXPECT_EQ(raw.NextCode(), 0);
  ASSERT_TRUE(raw.Send(RawClient::Frame(kRun, "\x0a\xff nothing of the kind")));
  EXPECT_NE(raw.NextCode(), 0);
}

TEST(CaptureFilterTest, CallsAreCapturedAsTheyWereOnTheWire) {
  const pb::CaptureFolder folder;
  std::vector<std::unique_ptr<Captured>> all;
  all.push_back(std::make_unique<Captured>(folder.path()));
  std::vector<std::unique_ptr<Services>> services;
  std::vector<TestServer::Listening> listening{{"own", all[0]->service}};
  for (const Mode mode : {Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec}) {
    all.push_back(std::make_unique<Captured>(folder.path()));
    services.push_back(std::make_unique<Services>(
        ServicesOptions{.defaults = {.mode = mode}, .expose_vars = false}));
    services.back()->Serve(*all.back()->service, kRun, &WorkService::Run);
    listening.push_back({std::string(ToString(mode)), all.back()->service});
  }
  {
    const TestServer server(listening);
    Inside([&] {
      for (const auto& [name, service] : listening) Call(server, name);
    });
  }
  size_t dropped = 0;
  for (const auto& one : all) dropped += one->capture->stats().calls_dropped;
  for (const auto& one : all) one->capture.reset();

  EXPECT_EQ(dropped, 2 * listening.size());  // what failed
  const std::vector<replay::v1::Record> written = folder.Written();
  EXPECT_EQ(written.size(), (kMany + 1) * listening.size());
  for (const replay::v1::Record& record : written) {
    EXPECT_EQ(record.method(), kRun);
    EXPECT_GT(record.time_unix_ms(), 1'600'000'000'000);
    Task request;
    Result response;
    ASSERT_TRUE(request.ParseFromString(record.request()));
    ASSERT_TRUE(response.ParseFromString(record.response()));
    EXPECT_TRUE(MessageDifferencer::Equals(request, Numbered(request.number())));
    EXPECT_TRUE(MessageDifferencer::Equals(response, Expected(request)));
  }
}

}  // namespace
}  // namespace harena::trpc
