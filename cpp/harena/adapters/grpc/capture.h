// Captures sampled calls of a gRPC server for `harena replay`, through gRPC's own interceptors: a
// server without a line of Harena besides this can be captured too.
#pragma once

#include <set>
#include <string>
#include <utility>

#include <grpcpp/support/server_interceptor.h>

#include "harena/pb/capture.h"

namespace harena::grpc {

/// Makes an interceptor for each call that is to be captured; the others are not touched:
///
///   harena::pb::Capture capture({.directory = "/var/lib/service/capture", .one_in = 1000});
///   std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> creators;
///   creators.push_back(std::make_unique<harena::grpc::CaptureInterceptors>(
///       capture, std::set<std::string>{"/package.Service/Method"}));
///   builder.experimental().SetInterceptorCreators(std::move(creators));
///
/// A captured call has its request and its response serialized once more, on the call's thread:
/// that is what it costs. Calls that fail or are refused are not captured, nor are streams.
/// REQUIRES: the handlers of `methods` take and give protobuf messages, not bytes (no raw or
/// generic API).
/// Thread rule: as gRPC calls it. Lifetime rule: `capture` outlives the grpc::Server.
class CaptureInterceptors final : public ::grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  CaptureInterceptors(pb::Capture& capture, std::set<std::string> methods)
      : capture_(capture), methods_(std::move(methods)) {}

  /// Null for a call that is not captured.
  ::grpc::experimental::Interceptor* CreateServerInterceptor(
      ::grpc::experimental::ServerRpcInfo* call) override;

 private:
  pb::Capture& capture_;
  const std::set<std::string> methods_;
};

}  // namespace harena::grpc
