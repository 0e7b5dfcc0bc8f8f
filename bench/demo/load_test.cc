// The loader must hide nothing: wrong replies, bad statuses and a stalled server all show.
#include "bench/demo/load.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "bench/workloads/ranking.h"
#include "harena/bench/v1/demo.grpc.pb.h"

namespace harena::bench {
namespace {

using Handler = std::function<::grpc::Status(const v1::RankRequest&, v1::RankResponse*)>;

/// A server in this process whose Rank does what the test says.
class FakeServer : public v1::DemoService::CallbackService {
 public:
  explicit FakeServer(Handler handler) : handler_(std::move(handler)) {
    ::grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeServer() override { server_->Shutdown(); }

  std::shared_ptr<::grpc::Channel> Channel() const {
    return ::grpc::CreateChannel("127.0.0.1:" + std::to_string(port_),
                                 ::grpc::InsecureChannelCredentials());
  }

  ::grpc::ServerUnaryReactor* Rank(::grpc::CallbackServerContext* context,
                                   const v1::RankRequest* request,
                                   v1::RankResponse* response) override {
    ::grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(handler_(*request, response));
    return reactor;
  }

 private:
  Handler handler_;
  int port_ = 0;
  std::unique_ptr<::grpc::Server> server_;
};

::grpc::Status RankWell(const v1::RankRequest& request, v1::RankResponse* response) {
  Rank(request, response);
  return ::grpc::Status::OK;
}

TEST(Load, GoodRepliesAreNoErrors) {
  FakeServer server(RankWell);
  const Workload workload = LoadWorkload("ranking_8k");
  Load load(server.Channel(), workload);
  const LoadReport warm = load.WarmUp(1);
  EXPECT_EQ(warm.requests, workload.requests.size());
  EXPECT_EQ(warm.Errors(), 0u);
  const LoadReport closed = load.ClosedLoop(3, 0.1);
  EXPECT_EQ(closed.Errors(), 0u);
  EXPECT_EQ(closed.latencies_us.size(), closed.requests);
}

TEST(Load, AReplyWithOneWrongLetterIsAnError) {
  FakeServer server([](const v1::RankRequest& request, v1::RankResponse* response) {
    Rank(request, response);
    char& letter = response->mutable_viewer_id()->front();
    letter = letter == 'a' ? 'b' : 'a';
    return ::grpc::Status::OK;
  });
  const Workload workload = LoadWorkload("ranking_8k_one");
  Load load(server.Channel(), workload);
  EXPECT_EQ(load.WarmUp(1).errors_reply, 1u);
  const LoadReport report = load.OpenLoop(50, 0.2);
  EXPECT_GE(report.errors_reply, 1u);
  EXPECT_NE(report.first_error.find("differs"), std::string::npos) << report.first_error;
}

TEST(Load, EveryReplyOfTheWrongSizeIsAnError) {
  FakeServer server([](const v1::RankRequest&, v1::RankResponse*) { return ::grpc::Status::OK; });
  const Workload workload = LoadWorkload("ranking_8k_one");
  Load load(server.Channel(), workload);
  EXPECT_EQ(load.OpenLoop(50, 0.2).errors_reply, 10u);
}

TEST(Load, EveryBadStatusIsAnErrorAndNoLatency) {
  FakeServer server([](const v1::RankRequest&, v1::RankResponse*) {
    return ::grpc::Status(::grpc::StatusCode::INTERNAL, "broken");
  });
  const Workload workload = LoadWorkload("ranking_8k_one");
  Load load(server.Channel(), workload);
  const LoadReport report = load.OpenLoop(50, 0.2);
  EXPECT_EQ(report.errors_status, 10u);
  EXPECT_TRUE(report.latencies_us.empty());
  EXPECT_NE(report.first_error.find("broken"), std::string::npos);
}

TEST(Load, AStalledServerShowsInTheLatenciesOfAllRequestsThatWereDue) {
  std::mutex one_at_a_time;
  std::atomic<bool> stalled{false};
  FakeServer server([&](const v1::RankRequest& request, v1::RankResponse* response) {
    const std::lock_guard lock(one_at_a_time);
    if (!stalled.exchange(true)) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return RankWell(request, response);
  });
  const Workload workload = LoadWorkload("ranking_8k_one");
  Load load(server.Channel(), workload);
  const LoadReport report = load.OpenLoop(100, 0.4);
  ASSERT_EQ(report.latencies_us.size(), 40u);
  const auto slow = std::count_if(report.latencies_us.begin(), report.latencies_us.end(),
                                  [](double us) { return us > 100'000; });
  EXPECT_GE(slow, 15);  // those due in the first 200 ms of the stall
}

}  // namespace
}  // namespace harena::bench
