#include "harena/mem/background_decay.h"

#include <utility>

#include "harena/base/check.h"

namespace harena {

BackgroundDecay::BackgroundDecay(std::chrono::milliseconds interval, std::function<void()> decay) {
  HARENA_CHECK(interval.count() > 0, "BackgroundDecay needs an interval above zero");
  thread_ = std::thread([this, interval, decay = std::move(decay)] {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, interval, [this] { return stop_; })) {
      lock.unlock();
      decay();
      lock.lock();
    }
  });
}

BackgroundDecay::~BackgroundDecay() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

}  // namespace harena
