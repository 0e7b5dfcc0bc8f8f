#include "harena/base/fork_mutex.h"

#include <pthread.h>

#include <thread>
#include <type_traits>

namespace harena {
namespace {

struct Registry {
  std::mutex mutex;
  ForkMutex* first = nullptr;  // guarded by it, like the links
  std::atomic<const ForkSteps*> steps{nullptr};
};
static_assert(std::is_trivially_destructible_v<Registry>);
constinit Registry registry;

}  // namespace

struct ForkHandlers {
  static void Install() noexcept {
    static const int installed = pthread_atfork(&Before, &After<false>, &After<true>);
    static_cast<void>(installed);
  }

 private:
  // In whatever order the others take them, nobody waits here while he holds one.
  static void Before() noexcept {
    registry.mutex.lock();
    for (ForkMutex* held = registry.first; held != nullptr;) {
      if (held->IsMine() || held->mutex_.try_lock()) {
        held = held->next_;
        continue;
      }
      Unlock(held);
      registry.mutex.unlock();
      std::this_thread::yield();
      registry.mutex.lock();
      held = registry.first;
    }
    if (const ForkSteps* steps = registry.steps.load()) steps->before();
  }
  template <bool kInChild>
  static void After() noexcept {
    if (const ForkSteps* steps = registry.steps.load()) steps->after(kInChild);
    Unlock(nullptr);
    registry.mutex.unlock();
  }
  static void Unlock(const ForkMutex* end) noexcept {
    for (ForkMutex* held = registry.first; held != end; held = held->next_) {
      if (!held->IsMine()) held->mutex_.unlock();
    }
  }
};

ForkMutex::ForkMutex() noexcept {
  ForkHandlers::Install();
  const std::lock_guard lock(registry.mutex);
  next_ = registry.first;
  if (next_ != nullptr) next_->previous_ = this;
  registry.first = this;
}

ForkMutex::~ForkMutex() {
  const std::lock_guard lock(registry.mutex);
  (previous_ == nullptr ? registry.first : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void SetForkSteps(const ForkSteps& steps) noexcept {
  ForkHandlers::Install();
  registry.steps.store(&steps);
}

}  // namespace harena
