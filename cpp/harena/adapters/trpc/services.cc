#include "harena/adapters/trpc/services.h"

#include <utility>

#include <trpc/server/rpc/rpc_service_method.h>

#include "harena/adapters/trpc/method_vars.h"
#include "harena/base/check.h"
#include "harena/base/log.h"
#include "harena/mem/budget.h"
#include "harena/pb/reusable.h"
#include "harena/pb/self_check.h"

namespace harena::trpc {
namespace {

std::optional<std::string> WhyNotUnderTrpc(const Options& options) {
  if (options.mode == Mode::kReuse && options.request_bytes_max != kUnlimitedBytes) {
    return "mode reuse cannot hold request_bytes_max under tRPC, which parses kept messages in "
           "frames of its own; choose codec, pages or arena, or leave request_bytes_max out";
  }
  if (options.mode == Mode::kReuse && options.depth_max != 0) {
    return "mode reuse cannot hold depth_max under tRPC, which parses kept messages in frames of "
           "its own; choose codec, pages or arena, or leave depth_max out";
  }
  if (options.decode_limits().has_ratio()) {
    return "decoded_ratio_max cannot be held under tRPC, which parses requests by itself; leave it "
           "out and choose request_bytes_max";
  }
  return std::nullopt;
}

std::optional<std::string> WhyNot(const Options& options) {
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

void SayWhatIsServedOtherwise(const pb::Method& method, bool request_codec) {
  const Options options = method.scopes().options();
  if (options.mode == Mode::kCodec && method.ServedAs(options.mode) != options.mode) {
    Log(Severity::kInfo, method.name() +
                             ": mode codec is served as pages: its messages were generated without "
                             "the codec");
  }
  if (options.request_bytes_max != kUnlimitedBytes && !request_codec) {
    Log(Severity::kWarning, method.name() +
                                ": request_bytes_max does not hold while its requests are parsed: "
                                "their type was generated without the codec, and tRPC parses it");
  }
  if (options.depth_max != 0 && !request_codec) {
    Log(Severity::kWarning, method.name() +
                                ": depth_max does not hold: its requests' type was generated "
                                "without the codec, and tRPC parses it");
  }
}

}  // namespace

std::optional<std::string> ServicesOptions::Validate() const {
  if (decay_interval.count() < 0) {
    return "decay_interval is below zero; zero turns the background thread off";
  }
  if (auto problem = WhyNot(defaults)) return "defaults: " + *problem;
  return std::nullopt;
}

Services::Services(const ServicesOptions& options)
    : options_(options), methods_("trpc", &WhyNotUnderTrpc) {
  if (const auto problem = options_.Validate()) Stop(*problem);
  if (options_.process_bytes_max != 0) ProcessBudget().set_bytes_max(options_.process_bytes_max);
  if (options_.self_check) SelfCheckOnce(options_.defaults);
  if (options_.decay_interval.count() > 0) {
    methods_.StartDecay(options_.decay_interval, options_.trim_heap_when_idle);
  }
}

Services::~Services() = default;

void Services::Replace(::trpc::Service& service, const std::string& name,
                       const google::protobuf::Message& request_prototype,
                       const google::protobuf::Message& response_prototype, bool request_codec,
                       bool response_codec, MethodHandler::Run run, const Options& options) {
  const auto found = service.GetRpcServiceMethod().find(name);
  if (found == service.GetRpcServiceMethod().end()) {
    Stop("the service has no method \"" + name + "\"; it has:" + NamesOf(service));
  }
  if (found->second->GetMethodType() != ::trpc::MethodType::UNARY) {
    Stop(name + " streams; only unary methods run on scopes");
  }
  if (const auto problem = WhyNot(options)) Stop(name + ": " + *problem);

  auto why_not_reusable = pb::WhyNotReusable(request_prototype);
  if (!why_not_reusable) why_not_reusable = pb::WhyNotReusable(response_prototype);
  const auto method =
      std::make_shared<pb::Method>(name, options, request_prototype, response_prototype,
                                   pb::MessageTypes{.why_not_reusable = std::move(why_not_reusable),
                                                    .codec = request_codec || response_codec});
  SayWhatIsServedOtherwise(*method, request_codec);
  methods_.Add(method);
  if (options_.expose_vars) vars_.push_back(std::make_unique<MethodVars>(method));

  const std::unique_ptr<::trpc::RpcServiceMethod> replaced(found->second);
  service.AddRpcServiceMethod(new ::trpc::RpcServiceMethod(
      name, ::trpc::MethodType::UNARY,
      new MethodHandler(method, request_prototype, response_prototype, std::move(run))));
}

}  // namespace harena::trpc
