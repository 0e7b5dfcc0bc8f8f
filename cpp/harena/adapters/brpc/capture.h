// Captures sampled calls of a brpc service for `harena replay`: a server without a line of Harena
// besides this can be captured too.
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include <google/protobuf/service.h>

#include "harena/pb/capture/capture.h"

namespace harena::brpc {

/// Stands in the place of a service, and hands all calls on to it:
///
///   harena::pb::Capture capture({.directory = "/var/lib/service/capture", .one_in = 1000});
///   harena::brpc::CapturedService captured(capture, service, {"/feed.Feed/Rank"});
///   server.AddService(&captured, brpc::SERVER_DOESNT_OWN_SERVICE);  // not &service
///
/// Every protocol is captured, JSON over HTTP as the messages that were made of it; attachments are
/// not. A captured call has its request and its response serialized once more, under baidu_std
/// after its response was sent. Calls that fail are not captured, nor are those whose handler sets
/// a function of its own by Controller::set_after_rpc_resp_fn(); both are counted as dropped.
///
/// Thread rule: as brpc calls it. Lifetime rule: `capture` and `service` outlive it, and it the
/// brpc::Server.
class CapturedService final : public google::protobuf::Service {
 public:
  /// REQUIRES: `service` has the `methods`, each named "/package.Service/Method" (checked; the
  /// message names those that there are).
  CapturedService(pb::Capture& capture, google::protobuf::Service& service,
                  const std::set<std::string>& methods);

  const google::protobuf::ServiceDescriptor* GetDescriptor() override {
    return service_.GetDescriptor();
  }
  void CallMethod(const google::protobuf::MethodDescriptor* method,
                  google::protobuf::RpcController* controller,
                  const google::protobuf::Message* request, google::protobuf::Message* response,
                  google::protobuf::Closure* done) override;
  const google::protobuf::Message& GetRequestPrototype(
      const google::protobuf::MethodDescriptor* method) const override {
    return service_.GetRequestPrototype(method);
  }
  const google::protobuf::Message& GetResponsePrototype(
      const google::protobuf::MethodDescriptor* method) const override {
    return service_.GetResponsePrototype(method);
  }

 private:
  void Begin(const std::string& name, google::protobuf::RpcController& controller) noexcept;

  pb::Capture& capture_;
  google::protobuf::Service& service_;
  std::unordered_map<const google::protobuf::MethodDescriptor*, std::string> names_;  // captured
};

}  // namespace harena::brpc
