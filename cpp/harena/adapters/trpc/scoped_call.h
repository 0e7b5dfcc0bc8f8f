// Request, response and scope of one unary call of a service on scopes.
#pragma once

#include <google/protobuf/message.h>
#include <trpc/server/server_context.h>

#include "harena/pb/method.h"
#include "harena/scope/scope.h"

namespace harena::trpc {

/// Lives on its own scope, so that a call costs no allocation for it, and hangs on the call's
/// ServerContext.
/// Thread rule: as tRPC uses a context: made, filled and ended one after the other, each on any
/// thread. Lifetime rule: until End(), after the response was serialized or the context is gone.
class ScopedCall {
 public:
  /// Null when there was no memory; `*refusal` says why.
  static ScopedCall* Make(pb::Method& method, const google::protobuf::Message& request_prototype,
                          const google::protobuf::Message& response_prototype,
                          Refusal* refusal) noexcept;
  void End() noexcept;

  /// The one that hangs on `context`; null when there is none.
  static ScopedCall* Of(::trpc::ServerContext& context) noexcept;
  /// Throws std::bad_alloc; then it has ended.
  void HangOn(::trpc::ServerContext& context);
  void TakeOff(::trpc::ServerContext& context) noexcept;

  Scope& scope() noexcept { return scope_; }
  google::protobuf::Message& request() noexcept { return *request_; }
  /// Why parsing the request was refused memory; null when it was not.
  const Refusal* refused_parse() const noexcept;

 private:
  struct Pair {
    google::protobuf::Message* request;
    google::protobuf::Message* response;
  };
  static Pair MakeMessages(pb::Method& method, Scope& scope,
                           const google::protobuf::Message& request_prototype,
                           const google::protobuf::Message& response_prototype);

  ScopedCall(Scope scope, Pair pair) noexcept;
  ~ScopedCall() = default;

  Scope scope_;
  google::protobuf::Message* const request_;
  google::protobuf::Message* const response_;
};

}  // namespace harena::trpc
