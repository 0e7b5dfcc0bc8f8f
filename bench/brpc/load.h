#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <brpc/channel.h>
#include <butil/iobuf.h>

#include "bench/brpc/term_pool.h"
#include "bench/load/load_report.h"

namespace harena::bench {

/// Drives a brpc server over one connection (baidu_std) with requests that are already serialised;
/// replies are not parsed. Not thread-safe: one load at a time. Lifetime: keeps a reference to
/// `pool`.
class BrpcLoad {
 public:
  /// Throws std::runtime_error when nobody listens.
  BrpcLoad(int port, const TermPool& pool);

  /// Sends each request once, one at a time, and compares the replies; repeats without comparing
  /// until at least `requests_min` were sent.
  LoadReport WarmUp(int requests_min);

  /// Sends `qps` requests per second on an absolute schedule, whatever the server does.
  LoadReport OpenLoop(double qps, double seconds);

  /// Keeps `in_flight` requests outstanding.
  LoadReport ClosedLoop(int in_flight, double seconds);

 private:
  struct Call;
  struct Taker;

  void Send(LoadClock::time_point due, Taker* taker);
  void Take(const Call& call, LoadReport* report);
  void CompareLastReplies(LoadReport* report);

  ::brpc::Channel channel_;
  const TermPool& pool_;
  std::vector<butil::IOBuf> requests_;
  std::vector<butil::IOBuf> last_replies_;  // by variant; empty until one came
  size_t next_variant_ = 0;
};

}  // namespace harena::bench
