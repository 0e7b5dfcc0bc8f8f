#pragma once

#include <trpc/server/server_context.h>

#include "harena/scope/scope.h"

namespace harena::trpc {

/// The scope of the call that `context` belongs to, in every mode:
///
///   trpc::Status Rank(trpc::ServerContextPtr context, const Request* request,
///                     Response* response) override {
///     harena::Scope& scope = harena::trpc::ScopeOf(*context);
///
/// REQUIRES: the method is served by a Services, and its call is not over; anything else stops the
/// process and says so (FindScope() returns nullptr instead).
/// Thread rule: as the context. Lifetime rule: until the response was serialized; Detach() for
/// longer.
Scope& ScopeOf(::trpc::ServerContext& context);

/// The same, or nullptr when the call has no scope of Harena.
Scope* FindScope(::trpc::ServerContext& context) noexcept;

}  // namespace harena::trpc
