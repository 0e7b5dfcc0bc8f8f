#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "bench/workloads/workloads.h"

namespace harena::bench {

/// What one stretch of load saw. A latency is counted from the moment at which the request was due,
/// whether or not it could be sent then, to the moment at which its reply was taken.
struct LoadReport {
  std::vector<double> latencies_us;  ///< of every OK reply, in order of arrival
  uint64_t requests = 0;             ///< sent
  uint64_t errors_status = 0;        ///< not OK, deadline included
  uint64_t errors_reply = 0;         ///< OK, but not the bytes computed in this process
  std::string first_error;           ///< empty while there is none
  double seconds = 0;                ///< from the first due time to the last reply or the end
  double send_lag_us_p99 = 0;        ///< how late requests were sent (open loop)
  double send_lag_us_max = 0;

  double Qps() const;
  uint64_t Errors() const { return errors_status + errors_reply; }
};

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
  using Clock = std::chrono::steady_clock;
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
