// Calls whose messages the caller owns: clients, and servers on a completion queue.
#pragma once

#include <utility>

#include <grpcpp/client_context.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_unary_call.h>

#include "harena/pb/call/client_messages.h"

namespace harena::grpc {

/// What is said of a scope whose messages may throw.
inline constexpr char kMessagesMustNotThrow[] =
    "gRPC fills this scope's messages in frames of its own, which no exception may cross: take the "
    "scope from a CallPool, or make its ScopePool with MessagesMayThrow::kNo";

/// Context, request and response of one outgoing call, all on one scope: recycled as a whole when
/// it ends. Use as arguments of any stub:
///
///   auto call = calls.Acquire();
///   FillIn(call.request());
///   grpc::Status status = stub->Rank(&call.context(), call.request(), &call.response());
///
/// The rest is pb::ClientMessages'.
/// Thread rule: thread-compatible. Lifetime rule: must outlive the call it is used for; for the
/// callback API keep it until the callback runs.
template <typename Request, typename Response>
class ClientCall : public pb::ClientMessages<Request, Response> {
 public:
  /// REQUIRES: `scope` is of a ScopePool with MessagesMayThrow::kNo (checked).
  explicit ClientCall(Scope scope, pb::MessageKeeper* keeper = nullptr)
      : pb::ClientMessages<Request, Response>(std::move(scope), keeper, kMessagesMustNotThrow),
        context_(this->scope().template Create<::grpc::ClientContext>()) {}

  ::grpc::ClientContext& context() noexcept { return *context_; }

 private:
  ::grpc::ClientContext* context_;
};

/// The same for a unary method of an AsyncService, served from a completion queue:
///
///   auto* call = new ServerCall<Req, Rsp>(calls.Acquire());
///   service.RequestRank(&call->context(), &call->request(), &call->responder(), cq, cq, call);
///   ... call->responder().Finish(call->response(), grpc::Status::OK, call); ... delete call;
///
/// The scope exists before the call arrives, as gRPC wants its request object beforehand.
/// Lifetime rule: until the tag of Finish() came back.
template <typename Request, typename Response>
class ServerCall : public pb::ClientMessages<Request, Response> {
 public:
  /// REQUIRES: `scope` is of a ScopePool with MessagesMayThrow::kNo (checked).
  explicit ServerCall(Scope scope, pb::MessageKeeper* keeper = nullptr)
      : pb::ClientMessages<Request, Response>(std::move(scope), keeper, kMessagesMustNotThrow),
        context_(this->scope().template Create<::grpc::ServerContext>()),
        responder_(
            this->scope().template Create<::grpc::ServerAsyncResponseWriter<Response>>(context_)) {}

  ::grpc::ServerContext& context() noexcept { return *context_; }
  ::grpc::ServerAsyncResponseWriter<Response>& responder() noexcept { return *responder_; }

 private:
  ::grpc::ServerContext* context_;
  ::grpc::ServerAsyncResponseWriter<Response>* responder_;
};

using pb::CallPool;

}  // namespace harena::grpc
