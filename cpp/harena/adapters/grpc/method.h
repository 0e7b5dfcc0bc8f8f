// What of a method is gRPC's: how a refusal is answered.
#pragma once

#include <grpcpp/support/status.h>

#include "harena/mem/budget.h"
#include "harena/pb/method.h"

namespace harena::grpc {

using pb::MessageTypes;
using pb::Method;
using pb::MethodStats;  // names are "/package.Service/Method"

/// Counts a refusal and makes the status that the client sees.
inline ::grpc::Status Refuse(Method& method, const Refusal& refusal) {
  return {::grpc::StatusCode::RESOURCE_EXHAUSTED, method.Refuse(refusal)};
}

}  // namespace harena::grpc
