#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "bench/load/load_report.h"
#include "bench/workloads/workloads.h"

namespace harena::bench {

/// Drives one method of a demo server over one connection with pre-serialised requests.
/// Not thread-safe: one load at a time. Lifetime: keeps a reference to `workload`.
class Load {
 public:
  Load(std::shared_ptr<::grpc::Channel> channel, const Workload& workload);

  /// Sends each variant once, one at a time, and compares the reply with the answer computed in
  /// this process; repeats without comparing until at least `requests_min` were sent.
  LoadReport WarmUp(int requests_min);

  /// Sends `qps` requests per second on an absolute schedule, whatever the server does.
  LoadReport OpenLoop(double qps, double seconds);

  /// Keeps `in_flight` requests outstanding.
  LoadReport ClosedLoop(int in_flight, double seconds);

 private:
  using Clock = LoadClock;
  struct Call;

  void Send(Clock::time_point due, ::grpc::CompletionQueue* queue);
  void Take(std::unique_ptr<Call> call, LoadReport* report);
  void CompareLastReplies(LoadReport* report);

  ::grpc::GenericStub stub_;
  const Workload& workload_;
  std::string method_path_;
  std::vector<::grpc::ByteBuffer> requests_;
  std::vector<std::string> expected_;             // deterministic bytes, by variant
  std::vector<::grpc::ByteBuffer> last_replies_;  // by variant; empty until one came
  size_t next_variant_ = 0;
};

}  // namespace harena::bench
