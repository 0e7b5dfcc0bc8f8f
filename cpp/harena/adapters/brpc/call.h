// Calls that a client makes: controller and messages in one, recycled together.
#pragma once

#include <utility>

#include <brpc/controller.h>

#include "harena/base/check.h"
#include "harena/pb/message.h"
#include "harena/scope/options.h"
#include "harena/scope/scope_pool.h"

namespace harena::brpc {

/// `scope`, checked to be one whose messages may be filled by code that expects no exception.
inline Scope CheckedForBrpc(Scope scope) {
  HARENA_CHECK(!scope.messages_may_throw(),
               "brpc fills this scope's messages in frames of its own, which no exception may "
               "cross: take the scope from a CallPool, or make its ScopePool with "
               "MessagesMayThrow::kNo");
  return scope;
}

/// Controller, request and response of one outgoing call, all on one scope:
///
///   auto call = calls.Acquire();
///   FillIn(call.request());
///   stub.Rank(&call.controller(), &call.request(), &call.response(), nullptr);
///
/// Thread rule: thread-compatible. Lifetime rule: must outlive the call it is used for; with a
/// `done`, keep it until that runs. brpc parses the response in frames of its own, so its memory is
/// counted but not refused.
template <typename Request, typename Response>
class ClientCall {
 public:
  /// REQUIRES: `scope` is of a ScopePool with MessagesMayThrow::kNo (checked).
  explicit ClientCall(Scope scope)
      : scope_(CheckedForBrpc(std::move(scope))),
        controller_(scope_.Create<::brpc::Controller>()),
        request_(scope_.CreateMessage<Request>()),
        response_(scope_.CreateMessage<Response>()) {}

  ::brpc::Controller& controller() noexcept { return *controller_; }
  Request& request() noexcept { return *request_; }
  Response& response() noexcept { return *response_; }
  Scope& scope() noexcept { return scope_; }

 private:
  Scope scope_;
  ::brpc::Controller* controller_;
  Request* request_;
  Response* response_;
};

/// Makes calls of one method and learns their sizes.
/// Thread rule: any thread. Lifetime rule: calls may outlive it.
template <typename Call>
class CallPool {
 public:
  /// REQUIRES: `options.Validate()` finds nothing (checked).
  explicit CallPool(const Options& options = {}) : scopes_(options, MessagesMayThrow::kNo) {}

  /// Throws BudgetExceeded when there is no memory for the scope's first block.
  Call Acquire() { return Call(scopes_.Acquire()); }

  ScopePoolStats stats() const noexcept { return scopes_.stats(); }

 private:
  ScopePool scopes_;
};

}  // namespace harena::brpc
