#include "bench/brpc/load.h"

#include <algorithm>
#include <condition_variable>
#include <stdexcept>
#include <thread>
#include <utility>

#include <brpc/controller.h>
#include <brpc/serialized_request.h>
#include <brpc/serialized_response.h>

#include "harena/bench/v1/terms.pb.h"

namespace harena::bench {
namespace {

constexpr int kCallDeadlineMs = 10'000;
constexpr int kConnectTries = 50;

const google::protobuf::MethodDescriptor* EchoMethod() {
  return v1::TermsService::descriptor()->FindMethodByName("Echo");
}

}  // namespace

// What becomes of the calls of one load. Replies come on brpc's threads.
struct BrpcLoad::Taker {
  explicit Taker(BrpcLoad& its_load) : load(its_load) {}

  BrpcLoad& load;
  LoadReport report;
  std::mutex mutex;
  std::condition_variable one_less;
  int outstanding = 0;

  void Take(const Call& call) {
    const std::lock_guard lock(mutex);
    load.Take(call, &report);
    --outstanding;
    one_less.notify_one();
  }
  /// Waits until fewer than `count` calls are outstanding.
  void WaitUntilBelow(int count) {
    std::unique_lock lock(mutex);
    one_less.wait(lock, [&] { return outstanding < count; });
  }
};

struct BrpcLoad::Call final : google::protobuf::Closure {
  void Run() override {
    taker->Take(*this);
    delete this;
  }

  ::brpc::Controller controller;
  ::brpc::SerializedRequest request;
  ::brpc::SerializedResponse response;
  Taker* taker = nullptr;
  LoadClock::time_point due;
  size_t variant = 0;
};

BrpcLoad::BrpcLoad(int port, const TermPool& pool)
    : pool_(pool), last_replies_(pool.requests.size()) {
  for (const std::string& wire : pool.requests) requests_.emplace_back().append(wire);
  ::brpc::ChannelOptions options;
  options.timeout_ms = kCallDeadlineMs;
  options.connect_timeout_ms = kCallDeadlineMs;
  options.max_retry = 0;
  if (channel_.Init(("127.0.0.1:" + std::to_string(port)).c_str(), &options) != 0) {
    throw std::runtime_error("brpc refuses a channel to port " + std::to_string(port));
  }
  // The connection is made by the first call: not by one that counts.
  for (int tries = 1;; ++tries) {
    ::brpc::Controller controller;
    ::brpc::SerializedRequest request;
    ::brpc::SerializedResponse response;
    channel_.CallMethod(EchoMethod(), &controller, &request, &response, nullptr);
    if (!controller.Failed()) return;
    if (tries == kConnectTries) {
      throw std::runtime_error("no server on port " + std::to_string(port) + ": " +
                               controller.ErrorText());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void BrpcLoad::Send(LoadClock::time_point due, Taker* taker) {
  auto* call = new Call;  // deletes itself when it is done
  call->taker = taker;
  call->due = due;
  call->variant = next_variant_;
  next_variant_ = (next_variant_ + 1) % requests_.size();
  butil::IOBuf& bytes =
      pool_.as_attachment ? call->controller.request_attachment() : call->request.serialized_data();
  bytes = requests_[call->variant];  // shares the blocks
  {
    const std::lock_guard lock(taker->mutex);
    ++taker->outstanding;
    ++taker->report.requests;
  }
  channel_.CallMethod(EchoMethod(), &call->controller, &call->request, &call->response, call);
}

void BrpcLoad::Take(const Call& call, LoadReport* report) {
  if (call.controller.Failed()) {
    report->NoteStatusError("error " + std::to_string(call.controller.ErrorCode()) + ": " +
                            call.controller.ErrorText());
    return;
  }
  report->latencies_us.push_back(Microseconds(LoadClock::now() - call.due));
  const butil::IOBuf& reply =
      pool_.as_attachment ? call.controller.response_attachment() : call.response.serialized_data();
  const butil::IOBuf& expected = requests_[call.variant];
  if (reply.size() != expected.size()) {
    report->NoteReplyError("a reply to " + pool_.name + " has " + std::to_string(reply.size()) +
                           " bytes instead of " + std::to_string(expected.size()));
    return;
  }
  last_replies_[call.variant] = reply;
}

void BrpcLoad::CompareLastReplies(LoadReport* report) {
  for (size_t v = 0; v < last_replies_.size(); ++v) {
    if (last_replies_[v].empty()) continue;
    if (!last_replies_[v].equals(requests_[v])) {
      report->NoteReplyError("a reply to " + pool_.name + " differs from its request");
    }
    last_replies_[v].clear();
  }
}

LoadReport BrpcLoad::WarmUp(int requests_min) {
  Taker taker(*this);
  const int requests = std::max(requests_min, static_cast<int>(requests_.size()));
  const LoadClock::time_point start = LoadClock::now();
  for (int i = 0; i < requests; ++i) {
    Send(LoadClock::now(), &taker);
    taker.WaitUntilBelow(1);
    if (i + 1 == static_cast<int>(requests_.size())) CompareLastReplies(&taker.report);
  }
  taker.report.seconds = Microseconds(LoadClock::now() - start) * 1e-6;
  return std::move(taker.report);
}

LoadReport BrpcLoad::OpenLoop(double qps, double seconds) {
  Taker taker(*this);
  Schedule schedule(qps, seconds);
  for (uint64_t i = 0; i < schedule.requests(); ++i) Send(schedule.WaitFor(i), &taker);
  LoadReport lags;
  schedule.End(&lags);
  taker.WaitUntilBelow(1);
  taker.report.send_lag_us_p99 = lags.send_lag_us_p99;
  taker.report.send_lag_us_max = lags.send_lag_us_max;
  taker.report.seconds = Microseconds(LoadClock::now() - schedule.start()) * 1e-6;
  CompareLastReplies(&taker.report);
  return std::move(taker.report);
}

LoadReport BrpcLoad::ClosedLoop(int in_flight, double seconds) {
  Taker taker(*this);
  const LoadClock::time_point start = LoadClock::now();
  const LoadClock::time_point end = start + std::chrono::duration_cast<LoadClock::duration>(
                                                std::chrono::duration<double>(seconds));
  while (LoadClock::now() < end) {
    Send(LoadClock::now(), &taker);
    taker.WaitUntilBelow(in_flight);
  }
  taker.WaitUntilBelow(1);
  taker.report.seconds = Microseconds(LoadClock::now() - start) * 1e-6;
  CompareLastReplies(&taker.report);
  return std::move(taker.report);
}

}  // namespace harena::bench
