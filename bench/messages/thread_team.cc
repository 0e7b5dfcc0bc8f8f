#include "bench/messages/thread_team.h"

#include <utility>

namespace harena::bench {

ThreadTeam::ThreadTeam(int threads) {
  threads_.reserve(static_cast<size_t>(threads));
  for (size_t i = 0; i < static_cast<size_t>(threads); ++i) {
    threads_.emplace_back([this, i] { Work(i); });
  }
}

ThreadTeam::~ThreadTeam() {
  {
    std::lock_guard lock(mutex_);
    body_ = nullptr;
    ++task_;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::Run(const std::function<void(size_t thread)>& body) {
  std::unique_lock lock(mutex_);
  body_ = &body;
  busy_ = threads_.size();
  ++task_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::Work(size_t thread) {
  uint64_t done = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return task_ != done; });
    done = task_;
    const auto* body = body_;
    if (body == nullptr) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*body)(thread);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    if (--busy_ == 0) changed_.notify_all();
  }
}

}  // namespace harena::bench
