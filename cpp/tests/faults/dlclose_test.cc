// A shared object that uses Harena is opened, used on several threads, closed and opened again.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "tests/safety_count.h"

namespace {

struct Module {
  void* handle = dlopen(HARENA_FAULTS_MODULE, RTLD_NOW | RTLD_LOCAL);
  int (*use)() = reinterpret_cast<int (*)()>(dlsym(handle, "UseHarena"));
  uint64_t (*trim)() = reinterpret_cast<uint64_t (*)()>(dlsym(handle, "TrimHarena"));
  void Close() { EXPECT_EQ(dlclose(handle), 0) << dlerror(); }
};

TEST(DlClose, AfterUseOnThisThreadAndOnThreadsThatEnded) {
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds; ++i) {
    Module module;
    ASSERT_NE(module.handle, nullptr) << dlerror();
    std::thread other([&] { EXPECT_EQ(module.use(), 0); });
    other.join();
    EXPECT_EQ(module.use(), 0);
    EXPECT_EQ(module.trim(), 0u);
    module.Close();
  }
  harena::SafetyCount("faults_injected", kRounds);
}

// The thread's cache ends after the object was closed: its code has to be there still.
TEST(DlClose, WhileAThreadThatUsedItLives) {
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds; ++i) {
    auto module = std::make_unique<Module>();
    ASSERT_NE(module->handle, nullptr) << dlerror();
    std::atomic<int> step{0};
    std::thread other([&] {
      EXPECT_EQ(module->use(), 0);
      step.store(1);
      while (step.load() != 2) std::this_thread::yield();
    });
    while (step.load() != 1) std::this_thread::yield();
    module->Close();
    step.store(2);
    other.join();
  }
  harena::SafetyCount("faults_injected", kRounds);
}

// fork() calls what an object has asked it to call; a closed one is not asked any more.
TEST(DlClose, ThenFork) {
  Module module;
  ASSERT_NE(module.handle, nullptr) << dlerror();
  EXPECT_EQ(module.use(), 0);
  module.Close();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  harena::SafetyCount("faults_injected", 1);
  harena::SafetyCount("processes_lost", status != 0);
}

}  // namespace
