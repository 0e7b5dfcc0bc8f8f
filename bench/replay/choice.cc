#include "bench/replay/choice.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

namespace harena::bench {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FileOptions;
using google::protobuf::MethodDescriptor;

const MethodDescriptor& FindMethod(const std::string& path, const DescriptorPool& pool) {
  std::string name = path;
  if (name.starts_with('/')) name.erase(0, 1);
  std::ranges::replace(name, '/', '.');
  const MethodDescriptor* method = pool.FindMethodByName(name);
  if (method == nullptr) {
    throw std::runtime_error("the .proto files have no method " + path +
                             "; name one with --service-method /package.Service/Method, and its "
                             "file with --proto");
  }
  return *method;
}

const Descriptor* FindMessage(const std::string& name, const DescriptorPool& pool) {
  const Descriptor* type = pool.FindMessageTypeByName(name);
  if (type == nullptr) {
    throw std::runtime_error("the .proto files have no message " + name +
                             "; write it with its package, as package.Message");
  }
  return type;
}

void RefuseLite(const Descriptor* type) {
  if (type == nullptr || type->file()->options().optimize_for() != FileOptions::LITE_RUNTIME) {
    return;
  }
  throw std::runtime_error(std::string(type->full_name()) +
                           " is of the lite runtime, which the benchmark cannot compare messages "
                           "of: remove optimize_for = LITE_RUNTIME from a copy of " +
                           std::string(type->file()->name()) + " and replay with that");
}

std::string MostFrequent(const Capture& capture) {
  std::map<std::string, size_t> counts = CountMethods(capture);
  counts.erase("");
  if (counts.empty()) {
    throw std::runtime_error(
        "the capture does not say which method its messages are of: name it with --service-method "
        "/package.Service/Method, or the messages with --request (and --response)");
  }
  return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })
      ->first;
}

bool Parses(google::protobuf::Message& message, std::string_view wire) {
  return wire.size() <= INT_MAX &&
         message.ParseFromArray(wire.data(), static_cast<int>(wire.size()));
}

size_t BytesOf(const Exchange& exchange) {
  return exchange.request.size() + (exchange.response ? exchange.response->size() : 0);
}

}  // namespace

std::map<std::string, size_t> CountMethods(const Capture& capture) {
  std::map<std::string, size_t> counts;
  for (const Exchange& exchange : capture.exchanges) ++counts[exchange.method];
  return counts;
}

MethodTypes ChooseTypes(const MethodWish& wish, const Capture& capture,
                        const DescriptorPool& pool) {
  MethodTypes types{.method = wish.method};
  if (!wish.request.empty()) {
    types.request = FindMessage(wish.request, pool);
    if (!wish.response.empty()) types.response = FindMessage(wish.response, pool);
  } else {
    if (types.method.empty()) types.method = MostFrequent(capture);
    const MethodDescriptor& method = FindMethod(types.method, pool);
    types.request = method.input_type();
    types.response = method.output_type();
  }
  RefuseLite(types.request);
  RefuseLite(types.response);
  return types;
}

void KeepGoodOnes(const MethodTypes& types, Capture& capture) {
  google::protobuf::DynamicMessageFactory factory;
  const std::unique_ptr<google::protobuf::Message> request(
      factory.GetPrototype(types.request)->New());
  const std::unique_ptr<google::protobuf::Message> response(
      types.response == nullptr ? nullptr : factory.GetPrototype(types.response)->New());
  std::vector<Exchange> good;
  for (Exchange& exchange : capture.exchanges) {
    if (!types.method.empty() && !exchange.method.empty() && exchange.method != types.method) {
      continue;
    }
    if (types.response == nullptr) exchange.response.reset();
    if (!Parses(*request, exchange.request)) {
      capture.problems.push_back(
          {exchange.source, "the request is no " + std::string(types.request->full_name())});
    } else if (exchange.response && !Parses(*response, *exchange.response)) {
      capture.problems.push_back(
          {exchange.source, "the response is no " + std::string(types.response->full_name())});
    } else {
      good.push_back(std::move(exchange));
    }
  }
  capture.exchanges = std::move(good);
  if (!capture.exchanges.empty()) return;
  std::string message = "the capture has no message that can be measured";
  if (!types.method.empty()) message += " of " + types.method;
  if (!capture.problems.empty()) {
    const CaptureProblem& first = capture.problems.front();
    message += " (" + std::to_string(capture.problems.size()) +
               " could not be used; the first: " + first.source + ": " + first.what + ")";
  }
  throw std::runtime_error(message +
                           ". Put one request's wire bytes, without gRPC's 5-byte frame and "
                           "uncompressed, into each file, and check that the .proto and the method "
                           "are those of the capture");
}

void Thin(Capture& capture, size_t count_max, size_t bytes_max) {
  std::vector<Exchange>& all = capture.exchanges;
  size_t bytes = 0;
  for (const Exchange& exchange : all) bytes += BytesOf(exchange);
  // As many as would fit if all were of the mean size.
  size_t count = std::min(all.size(), count_max);
  if (bytes > bytes_max) {
    count = std::min(
        count, static_cast<size_t>(static_cast<double>(all.size()) *
                                   static_cast<double>(bytes_max) / static_cast<double>(bytes)));
  }
  count = std::max<size_t>(count, 1);
  std::vector<Exchange> some;
  size_t taken = 0;
  for (size_t i = 0; i < count; ++i) {
    Exchange& exchange = all[i * all.size() / count];
    taken += BytesOf(exchange);
    if (taken > bytes_max && !some.empty()) break;
    some.push_back(std::move(exchange));
  }
  all = std::move(some);
}

}  // namespace harena::bench
