// The server in numbers: now, and over the last 15 minutes.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>

#include <nlohmann/json.hpp>

#include "harena/base/fork_mutex.h"

namespace harena::live::internal {

/// The answer to GET /harena/api/status, but for `writable` and `changes`.
/// testdata/live/status.schema.json holds it for both languages.
nlohmann::json StatusNow();

/// Takes samples and keeps the last.
/// Thread rule: any thread; Tick() is called by one.
class Timeline {
 public:
  static constexpr std::chrono::milliseconds kInterval{1000};
  static constexpr size_t kSamplesMax = 900;  // 15 minutes

  /// Takes a sample. Rates need two.
  void Tick();
  /// The answer to GET /harena/api/timeline: the samples after a moment, in milliseconds since
  /// 1970.
  nlohmann::json Since(int64_t after_ms) const;

 private:
  struct Sample {
    int64_t at_ms = 0;
    double requests_per_s = 0;
    double refused_per_s = 0;
    size_t process_bytes_used = 0;
    size_t pool_bytes_in_use = 0;
    size_t pool_bytes_thread_cached = 0;
    size_t pool_bytes_retained = 0;
    size_t pool_bytes_cold = 0;

    NLOHMANN_DEFINE_TYPE_INTRUSIVE(Sample, at_ms, requests_per_s, refused_per_s, process_bytes_used,
                                   pool_bytes_in_use, pool_bytes_thread_cached, pool_bytes_retained,
                                   pool_bytes_cold)
  };

  mutable ForkMutex mutex_;
  std::deque<Sample> samples_;
  // Of the one that ticks.
  std::chrono::steady_clock::time_point last_;
  uint64_t requests_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace harena::live::internal
