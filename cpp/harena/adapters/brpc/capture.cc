#include "harena/adapters/brpc/capture.h"

#include <exception>
#include <memory>

#include <brpc/controller.h>
#include <google/protobuf/descriptor.h>

#include "harena/base/check.h"
#include "harena/pb/capture/call_capture.h"

namespace harena::brpc {

using google::protobuf::Closure;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using google::protobuf::RpcController;

CapturedService::CapturedService(pb::Capture& capture, google::protobuf::Service& service,
                                 const std::set<std::string>& methods)
    : capture_(capture), service_(service) {
  const google::protobuf::ServiceDescriptor& type = *service.GetDescriptor();
  std::set<std::string> unknown = methods;
  std::string known;
  for (int i = 0; i < type.method_count(); ++i) {
    const std::string name =
        "/" + std::string(type.full_name()) + "/" + std::string(type.method(i)->name());
    known += " " + name;
    if (unknown.erase(name) != 0) names_.emplace(type.method(i), name);
  }
  if (!unknown.empty()) {
    const std::string problem =
        "the service has no method \"" + *unknown.begin() + "\"; it has:" + known;
    FailCheck("harena::brpc::CapturedService", 0, "methods", problem.c_str());
  }
}

void CapturedService::CallMethod(const MethodDescriptor* method, RpcController* controller,
                                 const Message* request, Message* response, Closure* done) {
  const auto found = names_.find(method);
  if (found != names_.end() && capture_.Wants()) Begin(found->second, *controller);
  service_.CallMethod(method, controller, request, response, done);
}

void CapturedService::Begin(const std::string& name, RpcController& controller) noexcept {
  try {
    // Shared because std::function copies; what is never called drops the call at its end.
    auto call = std::make_shared<pb::CallCapture>(capture_, name);
    static_cast<::brpc::Controller&>(controller)
        .set_after_rpc_resp_fn(
            [call](::brpc::Controller* ended, const Message* request, const Message* response) {
              if (ended->Failed() || request == nullptr || response == nullptr) return;
              call->set_request(*request);
              call->set_response(*response);
            });
  } catch (const std::exception&) {  // no memory: the call itself is not to suffer
    capture_.Drop();
  }
}

}  // namespace harena::brpc
