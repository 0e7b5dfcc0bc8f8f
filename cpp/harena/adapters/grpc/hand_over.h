#pragma once

#include <atomic>

namespace harena::grpc {

/// gRPC orders what it hands from thread to thread, but its packages are not compiled for
/// ThreadSanitizer, which then calls the end of a call a race. A store after each step and a load
/// before the next say it once more where it is seen; each costs a plain move. A step that does not
/// load orders itself alone before the next one, and not those before it.
class HandOver {
 public:
  void HandOn() const noexcept { handed_on_.store(true, std::memory_order_release); }
  void TakeBack() const noexcept { static_cast<void>(handed_on_.load(std::memory_order_acquire)); }

 private:
  mutable std::atomic<bool> handed_on_{false};
};

}  // namespace harena::grpc
