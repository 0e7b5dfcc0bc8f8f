#pragma once

#include <grpcpp/server_context.h>

#include "harena/scope/scope.h"

namespace harena::grpc {

/// What a request on Harena carries through gRPC, whatever its message types.
class RequestState {
 public:
  RequestState(const RequestState&) = delete;
  RequestState& operator=(const RequestState&) = delete;
  /// The request's scope, or nullptr when there was no memory for one.
  virtual Scope* scope() noexcept = 0;

 protected:
  RequestState() = default;
  ~RequestState() = default;
};

/// The scope of the request that `context` belongs to, in every mode.
/// REQUIRES: called in or after the handler of a callback-unary method that a harena::grpc::Server
/// serves; anything else stops the process and says so (FindScope() returns nullptr instead).
/// Thread rule: as Scope. Lifetime rule: until the reactor's OnDone(); Detach() for longer.
Scope& ScopeOf(::grpc::CallbackServerContext& context);

/// The same, or nullptr when the request has no scope of Harena.
Scope* FindScope(::grpc::CallbackServerContext& context) noexcept;

}  // namespace harena::grpc
