#include "bench/load/load_report.h"

#include <time.h>

#include <algorithm>
#include <cerrno>

namespace harena::bench {
namespace {

void SleepUntil(LoadClock::time_point time) {
  const auto since_start =
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  const timespec until = {since_start / 1'000'000'000, since_start % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace

double LoadReport::Qps() const {
  return seconds > 0 ? static_cast<double>(latencies_us.size()) / seconds : 0;
}

void LoadReport::NoteStatusError(const std::string& error) {
  ++errors_status;
  if (first_error.empty()) first_error = error;
}

void LoadReport::NoteReplyError(const std::string& error) {
  ++errors_reply;
  if (first_error.empty()) first_error = error;
}

double Microseconds(LoadClock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

Schedule::Schedule(double qps, double seconds)
    : start_(LoadClock::now() + std::chrono::milliseconds(5)),
      period_seconds_(1 / qps),
      requests_(std::max<uint64_t>(1, static_cast<uint64_t>(qps * seconds))) {
  lags_us_.reserve(requests_);
}

LoadClock::time_point Schedule::Due(uint64_t i) const {
  const std::chrono::duration<double> after(period_seconds_ * static_cast<double>(i));
  return start_ + std::chrono::duration_cast<LoadClock::duration>(after);
}

LoadClock::time_point Schedule::WaitFor(uint64_t i) {
  const LoadClock::time_point due = Due(i);
  SleepUntil(due);
  lags_us_.push_back(Microseconds(LoadClock::now() - due));
  return due;
}

void Schedule::End(LoadReport* report) {
  SleepUntil(Due(requests_));
  if (lags_us_.empty()) return;
  std::sort(lags_us_.begin(), lags_us_.end());
  report->send_lag_us_p99 = lags_us_[(lags_us_.size() - 1) * 99 / 100];
  report->send_lag_us_max = lags_us_.back();
}

}  // namespace harena::bench
