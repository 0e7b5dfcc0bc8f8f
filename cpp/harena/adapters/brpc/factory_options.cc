#include "harena/adapters/brpc/factory_options.h"

#include <google/protobuf/descriptor.h>

namespace harena::brpc {
namespace {

std::optional<std::string> WhyNot(const Options& options) {
  if (auto problem = options.Validate()) return problem;
  return WhyNotUnderBrpc(options);
}

}  // namespace

std::optional<std::string> WhyNotUnderBrpc(const Options& options) {
  if (options.mode == Mode::kReuse && options.request_bytes_max != kUnlimitedBytes) {
    return "mode reuse cannot hold request_bytes_max under brpc, which parses kept messages in "
           "frames of its own; choose codec, pages or arena, or leave request_bytes_max out";
  }
  if (options.mode == Mode::kReuse && options.depth_max != 0) {
    return "mode reuse cannot hold depth_max under brpc, which parses kept messages in frames of "
           "its own; choose codec, pages or arena, or leave depth_max out";
  }
  if (options.decode_limits().has_ratio()) {
    return "decoded_ratio_max cannot be held under brpc, which tells the size of a request to "
           "nobody "
           "before it is parsed; leave it out and choose request_bytes_max";
  }
  return std::nullopt;
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
