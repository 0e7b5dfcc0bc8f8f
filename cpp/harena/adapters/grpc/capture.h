// Captures sampled calls of a gRPC server for `harena replay`, through gRPC's own interceptors: a
// server without a line of Harena besides this can be captured too.
#pragma once

#include <set>
#include <string>
#include <utility>

#include <grpcpp/support/server_interceptor.h>

#include "harena/pb/capture/capture.h"

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
/// that is what it costs. Unary calls that fail or are refused are not captured.
///
/// The messages of streams are captured as calls, of which one in so many is: a received message
/// and the one that is sent next are a call; a received message after which another is received, or
/// the stream ends, is a call without a response; and further messages that are sent are calls with
/// an empty request, as nothing is parsed for them.
///
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
