#pragma once

#include <google/protobuf/message.h>

#include "harena/scope/scope.h"

namespace harena::brpc {

/// The scope of the request that is answered by `response`, in every mode:
///
///   void Rank(google::protobuf::RpcController*, const Request* request, Response* response,
///             google::protobuf::Closure* done) override {
///     harena::Scope& scope = harena::brpc::ScopeOf(*response);
///
/// REQUIRES: `response` is what brpc gave to the handler of a server with a MessageFactory, and
/// `done` has not run yet; anything else stops the process and says so (FindScope() returns nullptr
/// instead). So does a request for which there was no memory: where the process has a limit, use
/// FindScope(), or an Admission.
/// Thread rule: any thread; what it gives, as Scope. Lifetime rule: until `done` runs; Detach() for
/// longer.
Scope& ScopeOf(const google::protobuf::Message& response);

/// The same, or nullptr when the request has no scope of Harena.
Scope* FindScope(const google::protobuf::Message& response) noexcept;

}  // namespace harena::brpc
