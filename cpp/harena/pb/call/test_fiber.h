// A fiber for tests: what frameworks with fibers do, without one of them. Not installed.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "harena/base/compiler.h"
#include "harena/mem/budget.h"

#if HARENA_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace harena::pb {

/// A function on a stack of its own. It runs until it waits, and goes on where the next thread lets
/// it: on the same one or on another.
/// Thread rule: one thread at a time. Lifetime rule: it must have run to its end.
class TestFiber {
 public:
  explicit TestFiber(std::function<void()> body)
      : body_(std::move(body)), stack_(std::make_unique<char[]>(kStackBytes)) {
    getcontext(&own_);
    own_.uc_stack.ss_sp = stack_.get();
    own_.uc_stack.ss_size = kStackBytes;
    const auto self = reinterpret_cast<uintptr_t>(this);
    makecontext(&own_, reinterpret_cast<void (*)()>(&TestFiber::Enter), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  }
  TestFiber(const TestFiber&) = delete;
  TestFiber& operator=(const TestFiber&) = delete;

  /// Runs it on the calling thread until it waits or ends.
  HARENA_NOINLINE void Resume() {
    TestFiber* const outer = std::exchange(current_, this);
    SwitchHere();
    current_ = outer;
  }
  void ResumeOnAnotherThread() {
    std::thread([this] { Resume(); }).join();
  }

  /// For the body: gives the thread back. Returns on the thread of the next Resume().
  HARENA_NOINLINE void Wait() {
    FakeStack own;
    own.Leave(caller_stack_, caller_stack_bytes_);
    SwitchToCaller();
    own.Arrive(&caller_stack_, &caller_stack_bytes_);
  }

  bool ended() const noexcept { return ended_; }

  /// The one that runs on the calling thread, or nullptr.
  HARENA_NOINLINE static TestFiber* Current() noexcept { return current_; }
  /// Its own, as frameworks keep variables for each fiber.
  Budget* budget = nullptr;

 private:
  // What AddressSanitizer has to be told.
  struct FakeStack {
    void Leave([[maybe_unused]] const void* to, [[maybe_unused]] size_t bytes) noexcept {
#if HARENA_ASAN
      __sanitizer_start_switch_fiber(&saved, to, bytes);
#endif
    }
    void Arrive([[maybe_unused]] const void** from, [[maybe_unused]] size_t* bytes) noexcept {
#if HARENA_ASAN
      __sanitizer_finish_switch_fiber(saved, from, bytes);
#endif
    }
    void* saved = nullptr;
  };

  static constexpr size_t kStackBytes = size_t{512} << 10;

  static void Enter(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<TestFiber*>(uintptr_t{high} << 32 | low);
    FakeStack().Arrive(&self->caller_stack_, &self->caller_stack_bytes_);
    self->body_();
    self->ended_ = true;
    FakeStack().Leave(self->caller_stack_, self->caller_stack_bytes_);
    self->SwitchToCaller();
  }
  HARENA_NOINLINE void SwitchHere() {
    fake_stack_.Leave(stack_.get(), kStackBytes);
    swapcontext(&caller_, &own_);
    fake_stack_.Arrive(nullptr, nullptr);
  }
  HARENA_NOINLINE void SwitchToCaller() { swapcontext(&own_, &caller_); }

  static thread_local constinit inline TestFiber* current_ = nullptr;

  std::function<void()> body_;
  std::unique_ptr<char[]> stack_;
  ucontext_t own_;
  ucontext_t caller_;
  FakeStack fake_stack_;
  const void* caller_stack_ = nullptr;
  size_t caller_stack_bytes_ = 0;
  bool ended_ = false;
};

}  // namespace harena::pb
