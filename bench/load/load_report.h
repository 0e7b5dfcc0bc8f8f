#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

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

  void NoteStatusError(const std::string& error);
  void NoteReplyError(const std::string& error);
};

using LoadClock = std::chrono::steady_clock;

double Microseconds(LoadClock::duration duration);

/// An absolute schedule of `qps` requests per second: a late one does not move those after it.
/// Thread rule: one thread's.
class Schedule {
 public:
  /// At least one request.
  Schedule(double qps, double seconds);

  uint64_t requests() const { return requests_; }
  LoadClock::time_point start() const { return start_; }

  /// Sleeps until request `i` is due, notes how late that was, and returns when it was due.
  LoadClock::time_point WaitFor(uint64_t i);
  /// Sleeps until the request after the last would be due, and writes the lags to `report`.
  void End(LoadReport* report);

 private:
  LoadClock::time_point Due(uint64_t i) const;

  const LoadClock::time_point start_;
  const double period_seconds_;
  const uint64_t requests_;
  std::vector<double> lags_us_;
};

}  // namespace harena::bench
