#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace harena {

/// A thread that calls a function at intervals, so that a process which has gone idle gives memory
/// back too. Pools decay while they are used without it.
///
/// Thread rule: the function runs on the background thread; it must be safe beside all others.
/// Lifetime rule: the destructor waits for a running call and ends the thread.
class BackgroundDecay {
 public:
  /// Calls `decay()` every `interval`. REQUIRES: interval > 0.
  BackgroundDecay(std::chrono::milliseconds interval, std::function<void()> decay);

 private:
  std::mutex mutex_;  // for the wait alone
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace harena
