#include "harena/adapters/trpc/services.h"

#include <utility>

#include <trpc/server/rpc/rpc_service_method.h>

#include "harena/adapters/trpc/method_vars.h"
#include "harena/base/check.h"

namespace harena::trpc {
namespace {

std::optional<std::string> WhyNotUnderTrpc(const Options& options) {
  return pb::WhyNotParsedBy("tRPC", options);
}

std::optional<std::string> ProblemOf(const Options& options) {
  if (auto problem = options.Validate()) return problem;
  return WhyNotUnderTrpc(options);
}

[[noreturn]] void Stop(const std::string& problem) {
  FailCheck("harena::trpc::Services", 0, "Services", problem.c_str());
}

std::string NamesOf(const ::trpc::Service& service) {
  std::string names;
  for (const auto& [name, method] : service.GetRpcServiceMethod()) names += " " + name;
  return names.empty() ? " none" : names;
}

}  // namespace

std::optional<std::string> ServicesOptions::Validate() const {
  if (decay_interval.count() < 0) {
    return "decay_interval is below zero; zero turns the background thread off";
  }
  if (auto problem = ProblemOf(defaults)) return "defaults: " + *problem;
  return std::nullopt;
}

Services::Services(const ServicesOptions& options)
    : pb::MethodSet("trpc", &WhyNotUnderTrpc), options_(options) {
  if (const auto problem = options_.Validate()) Stop(*problem);
  Begin(options_);
}

Services::~Services() = default;

void Services::Replace(::trpc::Service& service, const std::string& name,
                       const google::protobuf::Message& request_prototype,
                       const google::protobuf::Message& response_prototype, pb::MessageTypes types,
                       MethodHandler::Run run, const Options& options) {
  const auto found = service.GetRpcServiceMethod().find(name);
  if (found == service.GetRpcServiceMethod().end()) {
    Stop("the service has no method \"" + name + "\"; it has:" + NamesOf(service));
  }
  if (found->second->GetMethodType() != ::trpc::MethodType::UNARY) {
    Stop(name + " streams; only unary methods run on scopes");
  }
  if (const auto problem = ProblemOf(options)) Stop(name + ": " + *problem);

  const auto method = std::make_shared<pb::Method>(name, options, request_prototype,
                                                   response_prototype, std::move(types));
  method->SayWhatIsServedOtherwise("tRPC");
  Add(method);
  if (options_.expose_vars) vars_.push_back(std::make_unique<MethodVars>(method));

  const std::unique_ptr<::trpc::RpcServiceMethod> replaced(found->second);
  service.AddRpcServiceMethod(new ::trpc::RpcServiceMethod(
      name, ::trpc::MethodType::UNARY, new MethodHandler(method, std::move(run))));
}

}  // namespace harena::trpc
