// Mutexes that a child of fork() finds free.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>

namespace harena {

/// A mutex for what a child of fork() goes on with. fork() waits until no other thread holds one,
/// so that in the child, which has only the forking thread, none is held by nobody and nothing that
/// one guards is half changed. A std::mutex will do for what belongs to a thread or to a call,
/// because a child has neither.
///
/// Thread rule: as std::mutex, but for construction and destruction, which take a mutex of the
/// process: not for objects that each call makes. A thread may fork while it holds one: parent and
/// child then both do. Lifetime rule: a static one has to be NeverDestroyed, as threads may end
/// after static objects.
class ForkMutex {
 public:
  ForkMutex() noexcept;
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock() {
    mutex_.lock();
    holder_.store(&thread_mark_, std::memory_order_relaxed);
  }
  void unlock() {
    holder_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  friend struct ForkHandlers;

  bool IsMine() const noexcept { return holder_.load(std::memory_order_relaxed) == &thread_mark_; }

  // Its address tells one live thread from another.
  static thread_local constinit inline char thread_mark_ = 0;

  std::mutex mutex_;
  std::atomic<const void*> holder_{nullptr};
  ForkMutex* previous_ = nullptr;
  ForkMutex* next_ = nullptr;
};

/// What a layer with locks of its own does when the process forks. They are ordered after every
/// ForkMutex: `before` runs when all of those are held, and `after`, in the parent and in the
/// child, before they are free again, on the thread that forks.
struct ForkSteps {
  void (*before)() noexcept;
  void (*after)(bool in_child) noexcept;
};

/// Has fork() take `steps` from now on; there is one place for them. Without memory for that,
/// fork() is as it was without us. Thread rule: any thread, any number of times. Lifetime rule:
/// `steps` are never destroyed.
void SetForkSteps(const ForkSteps& steps) noexcept;

/// Room for a static object whose destructor does not run. Takes no heap.
template <typename T>
class NeverDestroyed {
 public:
  NeverDestroyed() noexcept(noexcept(T())) { ::new (place_) T; }
  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(place_)); }

 private:
  alignas(T) std::byte place_[sizeof(T)];
};

}  // namespace harena
