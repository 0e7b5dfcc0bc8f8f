#include "harena/adapters/brpc/message_factory.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <typeinfo>
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

std::optional<std::string> WhyNotUnderBrpc(const Options& options) {
  return pb::WhyNotParsedBy("brpc", options);
}

}  // namespace

std::optional<std::string> FactoryOptions::Validate() const {
  if (decay_interval.count() < 0) {
    return "decay_interval is below zero; zero turns the background thread off";
  }
  if (auto problem = WhyNotUnderBrpc(defaults)) return "defaults: " + *problem;
  for (const auto& [name, options] : methods) {
    if (google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name) == nullptr) {
      return "no linked service has a method \"" + name +
             "\"; write it as brpc's /status page does: \"package.Service.Method\"";
    }
    if (auto problem = WhyNotUnderBrpc(options)) return name + ": " + *problem;
  }
  return std::nullopt;
}

MessageFactory::MessageFactory(const FactoryOptions& options)
    : pb::MethodSet("brpc", &WhyNotUnderBrpc), options_(options) {
  if (options_.follow_flags) Flags::ApplyTo(options_);
  if (const auto problem = options_.Validate()) {
    FailCheck("harena::brpc::MessageFactory", 0, "FactoryOptions::Validate", problem->c_str());
  }
  ExposeProcessVars();
  vars_ = ShowPool(options_.defaults.pool());
  {
    std::lock_guard lock(change_);
    for (const auto& [name, own] : options_.methods) static_cast<void>(CoverByName(name));
  }
  Begin(options_);
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
      std::lock_guard lock(change_);
      entry = &Cover(method, request_prototype, response_prototype);
    } catch (const std::bad_alloc&) {
      // As without Harena; the next call tries again.
      return plain_.Get(service, method);
    }
  }
  // Another service of the same descriptor may have messages of other classes.
  pb::Method* const served = entry->method.get();
  if (served != nullptr && &request_prototype == &served->request_prototype() &&
      &response_prototype == &served->response_prototype()) {
    if (auto* messages = RequestMessages::TryMake(*served)) return messages;
  }
  return plain_.Get(service, method);
}

void MessageFactory::Return(::brpc::RpcPBMessages* messages) {
  // The class is final: one comparison, where a dynamic_cast is a call, for each request.
  if (typeid(*messages) == typeid(RequestMessages)) {
    return static_cast<RequestMessages*>(messages)->End();
  }
  plain_.Return(messages);
}

const MethodEntry& MessageFactory::Cover(const MethodDescriptor& method, const Message& request,
                                         const Message& response) {
  if (const MethodEntry* known = table_.Find(&method)) return *known;
  auto entry = std::make_unique<MethodEntry>();
  entry->descriptor = &method;
  if (IsOfBrpcItself(method)) return table_.Add(std::move(entry));
  const std::string name(method.full_name());
  const auto chosen = options_.methods.find(name);
  entry->method = std::make_shared<pb::Method>(
      name, chosen != options_.methods.end() ? chosen->second : options_.defaults, request,
      response, pb::MessageTypes::Of(request, response));
  entry->method->SayWhatIsServedOtherwise("brpc");
  // All of it or nothing: whatever allocates comes first.
  ShownVars vars = ShowMethod(entry->method);
  vars_.reserve(vars_.size() + vars.size());
  Add(entry->method);
  std::move(vars.begin(), vars.end(), std::back_inserter(vars_));
  return table_.Add(std::move(entry));
}

// Covers a method of the linked services before its first request.
std::optional<std::string> MessageFactory::CoverByName(std::string_view name) {
  const MethodDescriptor* method =
      google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(std::string(name));
  if (method == nullptr || IsOfBrpcItself(*method)) return UnknownMethod(name);
  Cover(*method, *GeneratedPrototype(method->input_type()),
        *GeneratedPrototype(method->output_type()));
  return std::nullopt;
}

std::optional<std::string> MessageFactory::Change(const Edit& edit) {
  std::lock_guard lock(change_);
  Options changed = options_.defaults;
  edit(changed);
  if (auto problem = WhyNotUnderBrpc(changed)) return problem;
  if (auto problem = MethodSet::Change(edit)) return problem;
  options_.defaults = changed;
  return std::nullopt;
}

std::optional<std::string> MessageFactory::Change(std::string_view method, const Edit& edit) {
  std::lock_guard lock(change_);
  if (auto problem = CoverByName(method)) return problem;
  return MethodSet::Change(method, edit);
}

}  // namespace harena::brpc
