#include "harena/adapters/trpc/scope_of.h"

#include "harena/adapters/trpc/scoped_call.h"
#include "harena/base/check.h"

namespace harena::trpc {

Scope* FindScope(::trpc::ServerContext& context) noexcept {
  ScopedCall* call = ScopedCall::Of(context);
  return call == nullptr ? nullptr : &call->scope();
}

Scope& ScopeOf(::trpc::ServerContext& context) {
  Scope* scope = FindScope(context);
  HARENA_CHECK(scope != nullptr,
               "ScopeOf: this call has no scope. Pass the context that tRPC gave to a method that "
               "harena::trpc::Services serves, before its response is sent; or use FindScope()");
  return *scope;
}

}  // namespace harena::trpc
