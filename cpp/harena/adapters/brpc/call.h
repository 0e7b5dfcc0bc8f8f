// Calls that a client makes: controller and messages in one, recycled together.
#pragma once

#include <utility>

#include <brpc/controller.h>

#include "harena/pb/call/client_messages.h"

namespace harena::brpc {

/// Controller, request and response of one outgoing call, all on one scope:
///
///   auto call = calls.Acquire();
///   FillIn(call.request());
///   stub.Rank(&call.controller(), &call.request(), &call.response(), nullptr);
///
/// The rest is pb::ClientMessages'.
/// Thread rule: thread-compatible. Lifetime rule: must outlive the call it is used for; with a
/// `done`, keep it until that runs.
template <typename Request, typename Response>
class ClientCall : public pb::ClientMessages<Request, Response> {
 public:
  /// REQUIRES: `scope` is of a ScopePool with MessagesMayThrow::kNo (checked).
  explicit ClientCall(Scope scope, pb::MessageKeeper* keeper = nullptr)
      : pb::ClientMessages<Request, Response>(
            std::move(scope), keeper,
            "brpc fills this scope's messages in frames of its own, which no exception may cross: "
            "take the scope from a CallPool, or make its ScopePool with MessagesMayThrow::kNo"),
        controller_(this->scope().template Create<::brpc::Controller>()) {}

  ::brpc::Controller& controller() noexcept { return *controller_; }

 private:
  ::brpc::Controller* controller_;
};

using pb::CallPool;

}  // namespace harena::brpc
