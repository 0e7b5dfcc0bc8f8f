#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace harena::bench {

/// Threads that live as long as a server's, so that what a memory layer keeps per thread is kept.
/// Thread rule: one thread at a time calls Run().
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Calls `body(thread)` on every thread at once and waits for all. Rethrows the first exception.
  void Run(const std::function<void(size_t thread)>& body);

  size_t size() const { return threads_.size(); }

 private:
  void Work(size_t thread);

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(size_t)>* body_ = nullptr;  // null: end
  uint64_t task_ = 0;                                  // counts the calls of Run()
  size_t busy_ = 0;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace harena::bench
