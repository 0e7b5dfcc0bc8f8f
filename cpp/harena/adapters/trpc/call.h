// Calls that a client makes: request, response and their memory in one, recycled together.
#pragma once

#include <optional>
#include <utility>

#include "harena/base/check.h"
#include "harena/base/log.h"
#include "harena/pb/message.h"
#include "harena/pb/message_keeper.h"
#include "harena/pb/reusable.h"
#include "harena/scope/options.h"
#include "harena/scope/scope_pool.h"

namespace harena::trpc {

/// Request and response of one outgoing call, on one scope:
///
///   auto call = calls.Acquire();
///   FillIn(call.request());
///   auto context = trpc::MakeClientContext(proxy);
///   trpc::Status status = proxy->Rank(context, call.request(), &call.response());
///
/// The messages end with the call, or stay empty until the next one in mode `reuse`; they are never
/// deleted. For a further invocation take a further call: arenas only grow.
/// Thread rule: thread-compatible; a fiber may take it along to another thread. Lifetime rule: must
/// outlive the invocation. tRPC parses the response in frames of its own, so its memory is counted
/// but not refused.
template <typename Request, typename Response>
class ClientCall {
 public:
  using RequestType = Request;
  using ResponseType = Response;

  /// REQUIRES: `scope` is of a ScopePool with MessagesMayThrow::kNo (checked).
  explicit ClientCall(Scope scope)
      : scope_(Checked(std::move(scope))),
        request_(scope_.CreateMessage<Request>()),
        response_(scope_.CreateMessage<Response>()) {}
  /// With messages that `keeper` keeps from call to call.
  ClientCall(Scope scope, pb::MessageKeeper& keeper) : scope_(Checked(std::move(scope))) {
    const pb::MessageKeeper::Pair pair = keeper.Borrow(scope_);
    request_ = static_cast<Request*>(pair.request);
    response_ = static_cast<Response*>(pair.response);
  }

  Request& request() noexcept { return *request_; }
  Response& response() noexcept { return *response_; }
  Scope& scope() noexcept { return scope_; }

 private:
  static Scope Checked(Scope scope) {
    HARENA_CHECK(!scope.messages_may_throw(),
                 "tRPC fills this scope's messages in frames of its own, which no exception may "
                 "cross: take the scope from a CallPool, or make its ScopePool with "
                 "MessagesMayThrow::kNo");
    return scope;
  }

  Scope scope_;
  Request* request_;
  Response* response_;
};

/// Makes calls of one method and learns their sizes.
/// Thread rule: any thread. Lifetime rule: calls may outlive it.
template <typename Call>
class CallPool {
 public:
  /// REQUIRES: `options.Validate()` finds nothing (checked).
  explicit CallPool(const Options& options = {}) : scopes_(options, MessagesMayThrow::kNo) {
    if (options.mode != Mode::kReuse) return;
    const auto& request = Call::RequestType::default_instance();
    const auto& response = Call::ResponseType::default_instance();
    auto reason = pb::WhyNotReusable(request);
    if (!reason) reason = pb::WhyNotReusable(response);
    if (reason) {
      Log(Severity::kWarning, "CallPool: mode reuse is served as pages: " + *reason);
    } else {
      keeper_.emplace(request, response, options);
    }
  }

  /// Throws BudgetExceeded when there is no memory for the scope's first block.
  Call Acquire() { return keeper_ ? Call(scopes_.Acquire(), *keeper_) : Call(scopes_.Acquire()); }

  ScopePoolStats stats() const noexcept { return scopes_.stats(); }
  /// Mode `reuse`.
  pb::MessageKeeperStats kept() const {
    return keeper_ ? keeper_->stats() : pb::MessageKeeperStats{};
  }

 private:
  ScopePool scopes_;
  std::optional<pb::MessageKeeper> keeper_;
};

}  // namespace harena::trpc
