#include "harena/base/fork_mutex.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace harena {
namespace {

// Whether a child that does `work` comes to its end.
template <typename Work>
bool ChildEnds(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);  // what another thread held at the fork would be held for ever
    work();
    syscall(SYS_exit_group, 0);  // in _exit() ThreadSanitizer would report the parent's threads
  }
  int status = -1;
  while (waitpid(child, &status, 0) < 0) {
  }
  return status == 0;
}

TEST(ForkMutex, IsAMutex) {
  ForkMutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 1000; ++round) {
        const std::lock_guard lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 4000);
}

TEST(ForkMutex, IsFreeInAChildWhoeverHeldIt) {
  ForkMutex mutex;
  std::atomic<bool> held{false};
  std::atomic<bool> forked{false};
  bool half_changed = false;
  std::thread holder([&] {
    const std::lock_guard lock(mutex);
    half_changed = true;
    held.store(true);
    // Long enough for the fork to come in between, if it did not wait.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_FALSE(forked.load());
    half_changed = false;
  });
  while (!held.load()) std::this_thread::yield();
  EXPECT_TRUE(ChildEnds([&] {
    const std::lock_guard lock(mutex);
    if (half_changed) syscall(SYS_exit_group, 2);
  }));
  forked.store(true);
  holder.join();
}

// A thread that holds one and waits for the next, and makes some on the way.
TEST(ForkMutex, ManyAreFreeInAChildInWhateverOrderTheyAreTaken) {
  ForkMutex pairs[2][2];
  for (const int outer : {0, 1}) {
    auto& mutexes = pairs[outer];
    std::atomic<bool> stop{false};
    std::thread taking([&] {
      while (!stop.load()) {
        const std::lock_guard first(mutexes[outer]);
        const std::lock_guard second(mutexes[1 - outer]);
        const ForkMutex passing;
      }
    });
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(ChildEnds([&] {
        const std::lock_guard first(mutexes[outer]);
        const std::lock_guard second(mutexes[1 - outer]);
        const ForkMutex passing;
      }));
    }
    stop.store(true);
    taking.join();
  }
}

TEST(ForkMutex, AThreadMayForkWhileItHoldsOne) {
  ForkMutex mutex;
  mutex.lock();
  EXPECT_TRUE(ChildEnds([&] {
    mutex.unlock();
    const std::lock_guard lock(mutex);
  }));
  mutex.unlock();
  const std::lock_guard lock(mutex);
}

}  // namespace
}  // namespace harena
