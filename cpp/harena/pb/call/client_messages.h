// The messages of calls that a client makes, for adapters whose frameworks leave them to the
// caller.
#pragma once

#include <optional>
#include <utility>

#include "harena/base/check.h"
#include "harena/base/log.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/call/message_types.h"
#include "harena/scope/options.h"
#include "harena/scope/scope_pool.h"

namespace harena::pb {

/// Request and response of one outgoing call, on one scope. The messages end with the call, or stay
/// empty until the next one in mode `reuse`; they are never deleted.
/// Thread rule: thread-compatible. Lifetime rule: must outlive the call it is used for. The
/// framework parses the response in frames of its own, so its memory is counted but not refused.
template <typename Request, typename Response>
class ClientMessages {
 public:
  using RequestType = Request;
  using ResponseType = Response;

  Request& request() noexcept { return *request_; }
  Response& response() noexcept { return *response_; }
  Scope& scope() noexcept { return scope_; }

 protected:
  /// With messages that `keeper`, if there is one, keeps from call to call.
  /// REQUIRES: `scope` is of a ScopePool with MessagesMayThrow::kNo (checked; `if_not` is said).
  ClientMessages(Scope scope, MessageKeeper* keeper, const char* if_not)
      : scope_(std::move(scope)) {
    HARENA_CHECK(!scope_.messages_may_throw(), if_not);
    if (keeper == nullptr) {
      request_ = scope_.CreateMessage<Request>();
      response_ = scope_.CreateMessage<Response>();
    } else {
      const MessageKeeper::Pair pair = keeper->Take(scope_);
      request_ = static_cast<Request*>(pair.request);
      response_ = static_cast<Response*>(pair.response);
    }
  }

 private:
  Scope scope_;
  Request* request_;
  Response* response_;
};

/// Makes calls of one method and learns their sizes. A `Call` is made of a Scope and a
/// MessageKeeper*, as ClientMessages is.
/// Thread rule: any thread. Lifetime rule: calls may outlive it.
template <typename Call>
class CallPool {
 public:
  /// REQUIRES: `options.Validate()` finds nothing (checked).
  explicit CallPool(const Options& options = {}) : scopes_(options, MessagesMayThrow::kNo) {
    if (options.mode != Mode::kReuse) return;
    using Request = typename Call::RequestType;
    using Response = typename Call::ResponseType;
    if (auto reason = MessageTypes::Of<Request, Response>().why_not_reusable) {
      Log(Severity::kWarning, "CallPool: mode reuse is served as pages: " + *reason);
    } else {
      keeper_.emplace(Request::default_instance(), Response::default_instance(), options);
    }
  }

  /// No limit refuses it: where the process's is used up, the call's memory goes beyond it, and is
  /// counted. Throws std::bad_alloc when the system has no memory.
  Call Acquire() { return Call(scopes_.Acquire(), keeper_ ? &*keeper_ : nullptr); }

  ScopePoolStats stats() const noexcept { return scopes_.stats(); }
  /// Mode `reuse`.
  MessageKeeperStats kept() const { return keeper_ ? keeper_->stats() : MessageKeeperStats{}; }

 private:
  ScopePool scopes_;
  std::optional<MessageKeeper> keeper_;
};

}  // namespace harena::pb
