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
    static const int installed = pthread_atfork(&Before, &After, &AfterInChild);
    static_cast<void>(installed);
  }

  static void Add(ForkMutex& added) noexcept {
    const std::lock_guard lock(registry.mutex);
    added.next_ = registry.first;
    if (added.next_ != nullptr) added.next_->previous_ = &added;
    registry.first = &added;
  }
  static void Remove(ForkMutex& removed) noexcept {
    const std::lock_guard lock(registry.mutex);
    (removed.previous_ == nullptr ? registry.first : removed.previous_->next_) = removed.next_;
    if (removed.next_ != nullptr) removed.next_->previous_ = removed.previous_;
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
  static void After() noexcept {
    if (const ForkSteps* steps = registry.steps.load()) steps->after();
    Unlock(nullptr);
    registry.mutex.unlock();
  }
  static void AfterInChild() noexcept {
    if (const ForkSteps* steps = registry.steps.load()) steps->after_in_child();
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
  ForkHandlers::Add(*this);
}

ForkMutex::~ForkMutex() { ForkHandlers::Remove(*this); }

void SetForkSteps(const ForkSteps& steps) noexcept {
  ForkHandlers::Install();
  registry.steps.store(&steps);
}

}  // namespace harena
