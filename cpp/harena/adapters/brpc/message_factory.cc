#include "harena/adapters/brpc/message_factory.h"

#include <memory>
#include <new>
#include <utility>

#include "harena/adapters/brpc/flags.h"
#include "harena/adapters/brpc/request_messages.h"
#include "harena/adapters/brpc/vars.h"
#include "harena/base/check.h"
#include "harena/base/compiler.h"

namespace harena::brpc {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using google::protobuf::Service;

const Message* GeneratedPrototype(const google::protobuf::Descriptor* type) {
  return google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
}

// The console behind /vars, /flags and the other built-in pages: never on anybody's path.
bool IsOfBrpcItself(const MethodDescriptor& method) {
  return method.service()->file()->package() == "brpc";
}

}  // namespace

MessageFactory::MessageFactory(const FactoryOptions& options) : options_(options) {
  if (options_.follow_flags) Flags::ApplyTo(options_);
  if (const auto problem = options_.Validate()) {
    FailCheck("harena::brpc::MessageFactory", 0, "FactoryOptions::Validate", problem->c_str());
  }
  ExposeProcessVars();
  pool_vars_ = std::make_unique<PoolVars>(options_.defaults.pool());
  {
    std::lock_guard lock(change_);
    for (const auto& [name, own] : options_.methods) static_cast<void>(CoverByNameLocked(name));
  }
  methods_.Begin(options_);
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
  pb::Method* const served = entry->method.get();
  if (served == nullptr || &request_prototype != &served->request_prototype() ||
      &response_prototype != &served->response_prototype()) {
    return RequestMessages::MakePlain(request_prototype, response_prototype);
  }
  return RequestMessages::Make(*served, request_prototype, response_prototype);
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
  auto node = std::make_unique<MethodTable::Node>();
  MethodEntry& entry = node->entry;
  entry.descriptor = &method;
  if (IsOfBrpcItself(method)) return table_.Add(std::move(node));
  const std::string name(method.full_name());
  const auto chosen = options_.methods.find(name);
  entry.method = std::make_shared<pb::Method>(
      name, chosen != options_.methods.end() ? chosen->second : options_.defaults, request,
      response, pb::MessageTypes::Of(request, response));
  entry.method->SayWhatIsServedOtherwise("brpc");
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

}  // namespace harena::brpc
