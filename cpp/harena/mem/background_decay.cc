#include "harena/mem/background_decay.h"

#include <utility>

#include "harena/base/check.h"

namespace harena {

BackgroundDecay::BackgroundDecay(std::chrono::milliseconds interval, std::function<void()> decay) {
  HARENA_CHECK(interval.count() > 0, "BackgroundDecay needs an interval above zero");
  thread_ = std::jthread([this, interval, decay = std::move(decay)](const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) decay();
  });
}

}  // namespace harena
