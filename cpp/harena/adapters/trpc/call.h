// Calls that a client makes: request, response and their memory in one, recycled together.
#pragma once

#include <utility>

#include "harena/pb/call/client_messages.h"

namespace harena::trpc {

/// Request and response of one outgoing call, on one scope:
///
///   auto call = calls.Acquire();
///   FillIn(call.request());
///   auto context = trpc::MakeClientContext(proxy);
///   trpc::Status status = proxy->Rank(context, call.request(), &call.response());
///
/// For a further invocation take a further call: arenas only grow. The rest is pb::ClientMessages'.
/// Thread rule: thread-compatible; a fiber may take it along to another thread. Lifetime rule: must
/// outlive the invocation.
template <typename Request, typename Response>
class ClientCall : public pb::ClientMessages<Request, Response> {
 public:
  /// REQUIRES: `scope` is of a ScopePool with MessagesMayThrow::kNo (checked).
  explicit ClientCall(Scope scope, pb::MessageKeeper* keeper = nullptr)
      : pb::ClientMessages<Request, Response>(
            std::move(scope), keeper,
            "tRPC fills this scope's messages in frames of its own, which no exception may cross: "
            "take the scope from a CallPool, or make its ScopePool with MessagesMayThrow::kNo") {}
};

using pb::CallPool;

}  // namespace harena::trpc
