#include "harena/adapters/grpc/scope_of.h"

#include <grpcpp/support/message_allocator.h>

#include "harena/base/check.h"

namespace harena::grpc {

Scope* FindScope(::grpc::CallbackServerContext& context) noexcept {
  // A cast across, because the state may belong to somebody else's message allocator.
  auto* state = dynamic_cast<RequestState*>(context.GetRpcAllocatorState());
  return state == nullptr ? nullptr : state->scope();
}

Scope& ScopeOf(::grpc::CallbackServerContext& context) {
  Scope* scope = FindScope(context);
  HARENA_CHECK(scope != nullptr,
               "ScopeOf: this request has no scope; only callback-unary methods of a service that "
               "was wrapped by harena::grpc::Server have one. Register Server::service(), or use "
               "FindScope()");
  return *scope;
}

}  // namespace harena::grpc
