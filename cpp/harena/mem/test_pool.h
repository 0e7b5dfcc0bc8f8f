// What the tests of the pool and the arena share. Not installed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "harena/mem/page_pool.h"

namespace harena {

inline constexpr size_t kKiB = 1024;
inline constexpr size_t kMiB = 1024 * kKiB;

/// A clock that tests turn by hand, in milliseconds. It starts late enough to be turned back.
inline std::atomic<uint64_t> test_now_ms{1'000'000};
inline uint64_t TestNowMs() { return test_now_ms.load(); }

/// Default options but for the clock, a decay period of one second and no process budget.
inline PagePoolOptions TestOptions() {
  return {.decay_after = std::chrono::seconds(1), .budget = nullptr, .now_ms = &TestNowMs};
}

/// Every mapped byte is in exactly one place. REQUIRES: no other thread uses the pool.
inline bool AddsUp(const PagePoolStats& stats) {
  return stats.bytes_in_use + stats.bytes_thread_cached + stats.bytes_retained + stats.bytes_cold ==
         stats.bytes_mapped;
}

/// Writes `stamp` every 512 bytes and at the end, so that an overlap or a lost page shows.
inline void Stamp(void* data, size_t bytes, uint64_t stamp) {
  char* begin = static_cast<char*>(data);
  for (size_t at = 0; at + sizeof(stamp) <= bytes; at += 512) {
    std::memcpy(begin + at, &stamp, sizeof(stamp));
  }
  if (bytes >= sizeof(stamp)) std::memcpy(begin + bytes - sizeof(stamp), &stamp, sizeof(stamp));
}

inline bool HasStamp(const void* data, size_t bytes, uint64_t stamp) {
  const char* begin = static_cast<const char*>(data);
  for (size_t at = 0; at + sizeof(stamp) <= bytes; at += 512) {
    // The last bytes may belong to the stamp at the end.
    if (at + sizeof(stamp) > bytes - sizeof(stamp) && at + sizeof(stamp) != bytes) continue;
    if (std::memcmp(begin + at, &stamp, sizeof(stamp)) != 0) return false;
  }
  return bytes < sizeof(stamp) ||
         std::memcmp(begin + bytes - sizeof(stamp), &stamp, sizeof(stamp)) == 0;
}

/// A thread that runs one function at a time and then waits, keeping its thread cache.
class Worker {
 public:
  Worker() : thread_([this] { Loop(); }) {}
  ~Worker() {
    Post(nullptr);
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Returns when `work` has run on the worker's thread.
  void Run(std::function<void()> work) {
    Post(std::move(work));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !posted_; });
  }

 private:
  void Post(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    work_ = std::move(work);
    posted_ = true;
    changed_.notify_all();
  }
  void Loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return posted_; });
      if (work_ == nullptr) return;
      work_();
      posted_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool posted_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace harena
