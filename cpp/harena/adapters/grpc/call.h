// Calls whose messages the caller owns: clients, and servers on a completion queue.
#pragma once

#include <utility>

#include <grpcpp/client_context.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_unary_call.h>

#include "harena/base/check.h"
#include "harena/pb/arena/message.h"
#include "harena/scope/options.h"
#include "harena/scope/scope_pool.h"

namespace harena::grpc {

/// `scope`, checked to be one whose messages may be filled by code that expects no exception.
inline Scope CheckedForGrpc(Scope scope) {
  HARENA_CHECK(!scope.messages_may_throw(),
               "gRPC fills this scope's messages in frames of its own, which no exception may "
               "cross: take the scope from a CallPool, or make its ScopePool with "
               "MessagesMayThrow::kNo");
  return scope;
}

/// Context, request and response of one outgoing call, all on one scope: recycled as a whole when
/// it ends. Use as arguments of any stub:
///
///   auto call = calls.Acquire();
///   FillIn(call.request());
///   grpc::Status status = stub->Rank(&call.context(), call.request(), &call.response());
///
/// Thread rule: thread-compatible. Lifetime rule: must outlive the call it is used for; for the
/// callback API keep it until the callback runs. gRPC parses the response in frames of its own,
/// which no exception may cross, so its memory is counted but not refused.
template <typename Request, typename Response>
class ClientCall {
 public:
  /// REQUIRES: `scope` is of a ScopePool with MessagesMayThrow::kNo (checked).
  explicit ClientCall(Scope scope)
      : scope_(CheckedForGrpc(std::move(scope))),
        context_(scope_.Create<::grpc::ClientContext>()),
        request_(scope_.CreateMessage<Request>()),
        response_(scope_.CreateMessage<Response>()) {}

  ::grpc::ClientContext& context() noexcept { return *context_; }
  Request& request() noexcept { return *request_; }
  Response& response() noexcept { return *response_; }
  Scope& scope() noexcept { return scope_; }

 private:
  Scope scope_;
  ::grpc::ClientContext* context_;
  Request* request_;
  Response* response_;
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
class ServerCall {
 public:
  /// REQUIRES: `scope` is of a ScopePool with MessagesMayThrow::kNo (checked).
  explicit ServerCall(Scope scope)
      : scope_(CheckedForGrpc(std::move(scope))),
        context_(scope_.Create<::grpc::ServerContext>()),
        responder_(scope_.Create<::grpc::ServerAsyncResponseWriter<Response>>(context_)),
        request_(scope_.CreateMessage<Request>()),
        response_(scope_.CreateMessage<Response>()) {}

  ::grpc::ServerContext& context() noexcept { return *context_; }
  ::grpc::ServerAsyncResponseWriter<Response>& responder() noexcept { return *responder_; }
  Request& request() noexcept { return *request_; }
  Response& response() noexcept { return *response_; }
  Scope& scope() noexcept { return scope_; }

 private:
  Scope scope_;
  ::grpc::ServerContext* context_;
  ::grpc::ServerAsyncResponseWriter<Response>* responder_;
  Request* request_;
  Response* response_;
};

/// Makes calls of one method and learns their sizes. `Call` is a ClientCall or a ServerCall.
/// Thread rule: any thread. Lifetime rule: calls may outlive it.
template <typename Call>
class CallPool {
 public:
  /// REQUIRES: `options.Validate()` finds nothing (checked).
  explicit CallPool(const Options& options = {}) : scopes_(options, MessagesMayThrow::kNo) {}

  /// No limit refuses it: where the process's is used up, the call's memory goes beyond it, and is
  /// counted. Throws std::bad_alloc when the system has no memory.
  Call Acquire() { return Call(scopes_.Acquire()); }

  ScopePoolStats stats() const noexcept { return scopes_.stats(); }

 private:
  ScopePool scopes_;
};

}  // namespace harena::grpc
