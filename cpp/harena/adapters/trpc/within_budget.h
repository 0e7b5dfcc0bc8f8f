#pragma once

#include <optional>
#include <utility>

#include <trpc/server/server_context.h>

#include "harena/adapters/trpc/scope_of.h"
#include "harena/mem/budget.h"
#include "harena/pb/arena/budget_frame.h"

namespace harena::trpc {

/// While it stands, what its fiber does is held to `budget`, on whichever thread the fiber runs;
/// messages that grow beyond it throw BudgetExceeded there. Where no fiber runs (the merge and the
/// separate model), it holds its thread. For WithinBudget().
/// Thread rule: belongs to the fiber, or else the thread, that made it. Frames nest.
/// Lifetime rule: ends before its budget; a scope on the stack.
class FiberFrame {
 public:
  explicit FiberFrame(Budget& budget);
  ~FiberFrame();
  FiberFrame(const FiberFrame&) = delete;
  FiberFrame& operator=(const FiberFrame&) = delete;

 private:
  const bool in_fiber_;
  Budget* outer_ = nullptr;
  std::optional<pb::BudgetFrame> of_thread_;
};

/// Runs `work()`, a part of a method, within the limit of the call's scope: the messages there are
/// charged as they grow. What crosses the limit leaves `work` and the method as a BudgetExceeded,
/// which Harena's handler around the method turns into the answer. Returns what `work` returns.
///
///   harena::trpc::WithinBudget(*context, [&] { Answer(*request, response); });
///   return trpc::kSuccStatus;
///
/// REQUIRES: called in the method itself, on the thread or fiber that tRPC called it on, of a call
/// that has a scope (checked, see ScopeOf()). `work` may wait (call other servers, lock a
/// FiberMutex, sleep): the limit goes with its fiber. Fibers and threads that it starts are not
/// held to it. As everywhere on fibers, destructors that run while an exception is on its way do
/// not wait, nor do catch blocks.
template <typename Work>
decltype(auto) WithinBudget(::trpc::ServerContext& context, Work&& work) {
  const FiberFrame frame(ScopeOf(context).budget());
  return std::forward<Work>(work)();
}

}  // namespace harena::trpc
