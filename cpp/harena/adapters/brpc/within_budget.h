#pragma once

#include <new>
#include <string>
#include <utility>

#include <brpc/controller.h>
#include <brpc/errno.pb.h>

#include "harena/mem/budget.h"
#include "harena/scope/scope.h"

namespace harena::brpc {

/// While it stands, what its bthread does is held to `budget`, on whichever thread the bthread
/// runs; messages that grow beyond it throw BudgetExceeded there. For WithinBudget(). Thread rule:
/// belongs to the bthread that made it, or to the thread outside of any. Frames nest. Lifetime
/// rule: ends before its budget; a scope on the stack.
class BthreadFrame {
 public:
  /// Throws BudgetExceeded when there is no memory to keep it in.
  explicit BthreadFrame(Budget& budget);
  ~BthreadFrame();
  BthreadFrame(const BthreadFrame&) = delete;
  BthreadFrame& operator=(const BthreadFrame&) = delete;

 private:
  Budget* const outer_;
};

/// Runs `work()`, part of a handler, within the scope's limit: messages on the scope are charged as
/// they grow, and what crosses the limit ends `work` by an exception and fails the call with
/// ELIMIT. Whether it ran to its end.
///
///   if (WithinBudget(*controller, scope, [&] { Answer(*request, response); })) ...
///   done->Run();
///
/// `work` may wait (call other servers, lock a bthread::Mutex, sleep): the limit goes with its
/// bthread. Bthreads and threads that it starts are not held to it. As everywhere on bthreads,
/// destructors that run while an exception is on its way do not wait, nor do catch blocks.
/// Thread rule: the scope's thread or bthread.
template <typename Work>
bool WithinBudget(::brpc::Controller& controller, Scope& scope, Work&& work) {
  std::string refused;
  try {
    const BthreadFrame frame(scope.budget());
    std::forward<Work>(work)();
    return true;
  } catch (const std::bad_alloc& exceeded) {
    refused = RefusalOf(exceeded).Message();
  }
  controller.SetFailed(::brpc::ELIMIT, "harena: %s", refused.c_str());
  return false;
}

}  // namespace harena::brpc
