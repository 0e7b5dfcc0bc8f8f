#pragma once

#include <string>
#include <utility>

#include <brpc/controller.h>
#include <brpc/errno.pb.h>

#include "harena/mem/budget.h"
#include "harena/pb/budget_frame.h"
#include "harena/scope/scope.h"

namespace harena::brpc {

/// Runs `work()`, part of a handler, within the scope's limit: messages on the scope are charged as
/// they grow, and what crosses the limit ends `work` by an exception and fails the call with
/// ELIMIT. Whether it ran to its end.
///
///   if (WithinBudget(*controller, scope, [&] { Answer(*request, response); })) ...
///   done->Run();
///
/// REQUIRES: `work` does not wait (no RPC, no bthread mutex, no sleep): a bthread may go on on
/// another thread then, and the limit is held on the thread that it began on.
/// Thread rule: the scope's thread.
template <typename Work>
bool WithinBudget(::brpc::Controller& controller, Scope& scope, Work&& work) {
  try {
    const pb::BudgetFrame frame(scope.budget());
    std::forward<Work>(work)();
    return true;
  } catch (const BudgetExceeded& exceeded) {
    controller.SetFailed(::brpc::ELIMIT, "harena: %s", exceeded.refusal().Message().c_str());
    return false;
  }
}

}  // namespace harena::brpc
