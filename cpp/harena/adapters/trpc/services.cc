#include "harena/adapters/trpc/services.h"

#include <utility>

#include <trpc/server/rpc/rpc_service_method.h>
#include <trpc/tvar/basic_ops/passive_status.h>
#include <trpc/tvar/common/tvar_group.h>

#include "harena/base/check.h"
#include "harena/base/log.h"
#include "harena/pb/admin/counts.h"

namespace harena::trpc {
namespace {

std::optional<std::string> WhyNotUnderTrpc(const Options& options) {
  return pb::WhyNotParsedBy("tRPC", options);
}

using Stats = pb::MethodStats;

const pb::Count<Stats> kMethodCounts[] = {
    {"requests", [](const Stats& stats) { return stats.requests; }},
    {"malformed", [](const Stats& stats) { return stats.malformed; }},
    {"refused", [](const Stats& stats) { return stats.refused; }},
    {"refused_request_bytes_max",
     [](const Stats& stats) { return stats.refused_by.request_bytes_max; }},
    {"refused_process_bytes_max",
     [](const Stats& stats) { return stats.refused_by.process_bytes_max; }},
    {"refused_depth_max", [](const Stats& stats) { return stats.refused_by.depth_max; }},
    {"scopes_live", [](const Stats& stats) { return stats.scopes.scopes_live(); }},
    {"scopes_made", [](const Stats& stats) { return stats.scopes.scopes_made; }},
    {"bytes_kept", [](const Stats& stats) -> uint64_t { return stats.kept.bytes_idle; }},
};

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
  if (auto problem = WhyNotUnderTrpc(defaults)) return "defaults: " + *problem;
  return std::nullopt;
}

Services::Services(const ServicesOptions& options)
    : pb::MethodSet("trpc", &WhyNotUnderTrpc), options_(options) {
  if (const auto problem = options_.Validate()) Stop(*problem);
  Begin(options_);
}

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
  if (const auto problem = WhyNotUnderTrpc(options)) Stop(name + ": " + *problem);

  const auto method = std::make_shared<pb::Method>(name, options, request_prototype,
                                                   response_prototype, std::move(types));
  method->SayWhatIsServedOtherwise("tRPC");
  Add(method);
  if (options_.expose_vars) Show(method);

  const std::unique_ptr<::trpc::RpcServiceMethod> replaced(found->second);
  service.AddRpcServiceMethod(new ::trpc::RpcServiceMethod(
      name, ::trpc::MethodType::UNARY, new MethodHandler(method, std::move(run))));
}

void Services::Show(const std::shared_ptr<const pb::Method>& method) {
  // A method's name starts with a slash.
  const std::string folder = "harena/methods" + method->name() + "/";
  if (::trpc::tvar::TrpcVarGroup::TryGet("/" + folder + kMethodCounts[0].name)) {
    Log(Severity::kWarning,
        method->name() + ": another method of that name is shown among tRPC's variables already");
    return;
  }
  for (const auto& [name, get] : kMethodCounts) {
    vars_.push_back(std::make_shared<::trpc::tvar::PassiveStatus<uint64_t>>(
        folder + name, [method, get = get] { return get(method->stats()); }));
  }
}

}  // namespace harena::trpc
