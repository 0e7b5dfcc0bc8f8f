// What of a method is gRPC's: how a call is answered that its handler does not get.
#pragma once

#include <new>
#include <string>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/status.h>

#include "harena/mem/budget.h"
#include "harena/pb/call/method.h"
#include "harena/pb/parse/parse.h"
#include "harena/scope/scope.h"

namespace harena::grpc {

using pb::MessageTypes;
using pb::Method;
using pb::MethodStats;  // names are "/package.Service/Method"

/// Counts a refusal and makes the status that the client sees.
inline ::grpc::Status Refuse(Method& method, const Refusal& refusal) noexcept {
  return {::grpc::StatusCode::RESOURCE_EXHAUSTED, method.Refuse(refusal)};
}

/// Counts a request that is no message of its type and makes the status that the client sees.
inline ::grpc::Status RefuseMalformed(Method& method, Scope& scope,
                                      const google::protobuf::MessageLite& request) noexcept {
  method.CountMalformed();
  try {
    const std::string missing = pb::MissingFields(scope, request);
    return {::grpc::StatusCode::INVALID_ARGUMENT,
            "harena: " + method.name() + ": the request is no valid " +
                std::string(request.GetTypeName()) +
                (missing.empty() ? "" : "; missing: " + missing)};
  } catch (const std::bad_alloc&) {
    return {::grpc::StatusCode::RESOURCE_EXHAUSTED, pb::kOutOfMemory};
  }
}

}  // namespace harena::grpc
