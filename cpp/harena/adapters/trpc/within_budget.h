#pragma once

#include <utility>

#include <trpc/server/server_context.h>

#include "harena/adapters/trpc/scope_of.h"
#include "harena/pb/budget_frame.h"

namespace harena::trpc {

/// Runs `work()`, a part of a method, within the limit of the call's scope: the messages there are
/// charged as they grow. What crosses the limit leaves `work` and the method as a BudgetExceeded,
/// which Harena's handler around the method turns into the answer. Returns what `work` returns.
///
///   harena::trpc::WithinBudget(*context, [&] { Answer(*request, response); });
///   return trpc::kSuccStatus;
///
/// REQUIRES: called in the method itself, on the thread or fiber that tRPC called it on, of a call
/// that has a scope (checked, see ScopeOf()). `work` does not wait (no call of another server, no
/// fiber mutex, no sleep): a fiber may go on on another thread then, and the limit is held on the
/// thread that it began on.
template <typename Work>
decltype(auto) WithinBudget(::trpc::ServerContext& context, Work&& work) {
  const pb::BudgetFrame frame(ScopeOf(context).budget());
  return std::forward<Work>(work)();
}

}  // namespace harena::trpc
