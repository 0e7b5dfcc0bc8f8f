#include "harena/adapters/brpc/factory_options.h"

#include <google/protobuf/descriptor.h>

#include "harena/pb/call/method.h"

namespace harena::brpc {
namespace {

std::optional<std::string> WhyNot(const Options& options) {
  if (auto problem = options.Validate()) return problem;
  return WhyNotUnderBrpc(options);
}

}  // namespace

std::optional<std::string> WhyNotUnderBrpc(const Options& options) {
  return pb::WhyNotParsedBy("brpc", options);
}

std::optional<std::string> FactoryOptions::Validate() const {
  if (decay_interval.count() < 0) {
    return "decay_interval is below zero; zero turns the background thread off";
  }
  if (auto problem = WhyNot(defaults)) return "defaults: " + *problem;
  for (const auto& [name, options] : methods) {
    if (google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name) == nullptr) {
      return "no linked service has a method \"" + name +
             "\"; write it as brpc's /status page does: \"package.Service.Method\"";
    }
    if (auto problem = WhyNot(options)) return name + ": " + *problem;
  }
  return std::nullopt;
}

}  // namespace harena::brpc
