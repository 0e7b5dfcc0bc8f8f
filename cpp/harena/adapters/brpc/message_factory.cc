#include "harena/adapters/brpc/message_factory.h"

#include <memory>
#include <new>
#include <utility>

#include "harena/adapters/brpc/flags.h"
#include "harena/adapters/brpc/request_messages.h"
#include "harena/adapters/brpc/vars.h"
#include "harena/base/check.h"
#include "harena/base/compiler.h"
#include "harena/base/log.h"
#include "harena/mem/budget.h"
#include "harena/pb/capabilities.h"
#include "harena/pb/reusable.h"
#include "harena/pb/self_check.h"

namespace harena::brpc {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using google::protobuf::Service;

const Message* GeneratedPrototype(const google::protobuf::Descriptor* type) {
  return google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
}

// brpc knows messages by their base class alone, so a codec is known by the type's name; a dynamic
// message of that name has none.
bool HasCodec(const Message& prototype) {
  if (&prototype != GeneratedPrototype(prototype.GetDescriptor())) return false;
  const pb::CapabilityReport report = pb::Capabilities();
  if (!report.codec) return false;
  for (const pb::CodecMessage& message : report.messages) {
    if (message.name == prototype.GetDescriptor()->full_name()) return message.why_stock.empty();
  }
  return false;
}

std::optional<std::string> WhyNotReusable(const Message& request, const Message& response) {
  if (auto reason = pb::WhyNotReusable(request)) return reason;
  return pb::WhyNotReusable(response);
}

// The console behind /vars, /flags and the other built-in pages: never on anybody's path.
bool IsOfBrpcItself(const MethodDescriptor& method) {
  return method.service()->file()->package() == "brpc";
}

void SayWhatIsServedOtherwise(const pb::Method& method, const Message& request,
                              bool request_codec) {
  const Options options = method.scopes().options();
  if (options.mode == Mode::kCodec && method.ServedAs(options.mode) != options.mode) {
    Log(Severity::kInfo, method.name() +
                             ": mode codec is served as pages: its messages were generated without "
                             "the codec");
  }
  if (options.request_bytes_max != kUnlimitedBytes && !request_codec) {
    Log(Severity::kWarning,
        method.name() + ": request_bytes_max does not hold while its requests are parsed: " +
            std::string(request.GetTypeName()) +
            " was generated without the codec, and brpc parses it");
  }
}

}  // namespace

MessageFactory::MessageFactory(const FactoryOptions& options) : options_(options) {
  if (options_.follow_flags) Flags::ApplyTo(options_);
  if (const auto problem = options_.Validate()) {
    FailCheck("harena::brpc::MessageFactory", 0, "FactoryOptions::Validate", problem->c_str());
  }
  if (options_.process_bytes_max != 0) ProcessBudget().set_bytes_max(options_.process_bytes_max);
  if (options_.self_check) SelfCheckOnce(options_.defaults);
  ExposeProcessVars();
  pool_vars_ = std::make_unique<PoolVars>(options_.defaults.pool());
  {
    std::lock_guard lock(change_);
    for (const auto& [name, own] : options_.methods) static_cast<void>(CoverByNameLocked(name));
  }
  if (options_.decay_interval.count() > 0) {
    methods_.StartDecay(options_.decay_interval, options_.trim_heap_when_idle);
  }
  if (options_.follow_flags) Flags::Follow(*this);
}

MessageFactory::~MessageFactory() {
  if (options_.follow_flags) Flags::Unfollow(*this);
}

::brpc::RpcPBMessages* MessageFactory::Get(const Service& service, const MethodDescriptor& method) {
  const Message& request_prototype = service.GetRequestPrototype(&method);
  const Message& response_prototype = service.GetResponsePrototype(&method);
  const MethodEntry* entry = table_.Find(&method);
  if (HARENA_UNLIKELY(entry == nullptr)) {
    try {
      entry = &Cover(service, method);
    } catch (const std::bad_alloc&) {
      // As without Harena; the next call tries again.
      return RequestMessages::MakePlain(request_prototype, response_prototype);
    }
  }
  // Another service of the same descriptor may have messages of other classes.
  if (entry->method == nullptr || &request_prototype != entry->request_prototype ||
      &response_prototype != entry->response_prototype) {
    return RequestMessages::MakePlain(request_prototype, response_prototype);
  }
  return RequestMessages::Make(*entry);
}

void MessageFactory::Return(::brpc::RpcPBMessages* messages) {
  static_cast<RequestMessages*>(messages)->End();
}

const MethodEntry& MessageFactory::Cover(const Service& service, const MethodDescriptor& method) {
  std::lock_guard lock(change_);
  if (const MethodEntry* entry = table_.Find(&method)) return *entry;
  return AddLocked(method, service.GetRequestPrototype(&method),
                   service.GetResponsePrototype(&method));
}

const MethodEntry& MessageFactory::AddLocked(const MethodDescriptor& method, const Message& request,
                                             const Message& response) {
  MethodEntry entry{.descriptor = &method,
                    .request_prototype = &request,
                    .response_prototype = &response,
                    .method = nullptr};
  auto node = std::make_unique<MethodTable::Node>();
  node->entry = entry;
  if (IsOfBrpcItself(method)) return table_.Add(std::move(node));
  const std::string name(method.full_name());
  const auto chosen = options_.methods.find(name);
  const bool request_codec = HasCodec(request);
  entry.method = std::make_shared<pb::Method>(
      name, chosen != options_.methods.end() ? chosen->second : options_.defaults, request,
      response,
      pb::MessageTypes{.why_not_reusable = WhyNotReusable(request, response),
                       .codec = request_codec || HasCodec(response)});
  SayWhatIsServedOtherwise(*entry.method, request, request_codec);
  node->entry.method = entry.method;
  // All of it or nothing: whatever allocates comes first.
  auto vars = std::make_unique<MethodVars>(entry.method);
  vars_.reserve(vars_.size() + 1);
  methods_.Add(entry.method);
  vars_.push_back(std::move(vars));
  return table_.Add(std::move(node));
}

// Covers a method of the linked services before its first request.
std::optional<std::string> MessageFactory::CoverByNameLocked(std::string_view name) {
  const MethodDescriptor* method =
      google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(std::string(name));
  if (method == nullptr || IsOfBrpcItself(*method)) return methods_.UnknownMethod(name);
  if (table_.Find(method) == nullptr) {
    AddLocked(*method, *GeneratedPrototype(method->input_type()),
              *GeneratedPrototype(method->output_type()));
  }
  return std::nullopt;
}

std::optional<std::string> MessageFactory::Change(const Edit& edit) {
  std::lock_guard lock(change_);
  Options changed = options_.defaults;
  edit(changed);
  if (auto problem = changed.Validate()) return problem;
  if (auto problem = WhyNotUnderBrpc(changed)) return problem;
  if (auto problem = methods_.Change(edit)) return problem;
  options_.defaults = changed;
  return std::nullopt;
}

std::optional<std::string> MessageFactory::Change(std::string_view method, const Edit& edit) {
  std::lock_guard lock(change_);
  if (auto problem = CoverByNameLocked(method)) return problem;
  return methods_.Change(method, edit);
}

std::optional<std::string> MessageFactory::SetMode(Mode mode) {
  return Change([=](Options& options) { options.mode = mode; });
}

std::optional<std::string> MessageFactory::SetMode(std::string_view method, Mode mode) {
  return Change(method, [=](Options& options) { options.mode = mode; });
}

std::optional<std::string> MessageFactory::SetRequestBytesMax(size_t bytes) {
  return Change([=](Options& options) { options.request_bytes_max = bytes; });
}

std::optional<std::string> MessageFactory::SetRequestBytesMax(std::string_view method,
                                                              size_t bytes) {
  return Change(method, [=](Options& options) { options.request_bytes_max = bytes; });
}

}  // namespace harena::brpc
