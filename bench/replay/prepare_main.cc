// The first half of a replay: reads a capture and the descriptors of its types, chooses what is to
// be measured, writes it as one file and says as JSON what it is. run.py then builds a program with
// the types' own generated code.
#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <google/protobuf/compiler/cpp/names.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <nlohmann/json.hpp>

#include "bench/replay/capture_reader.h"
#include "bench/replay/choice.h"
#include "harena/replay/v1/record.pb.h"

namespace harena::bench {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using nlohmann::json;

struct Flags {
  std::string descriptors;
  std::string capture;
  std::string out;
  MethodWish wish;
  size_t capture_bytes_max = size_t{2} << 30;
  size_t sample_bytes_max = size_t{32} << 20;
  size_t exchanges_max = 256;
};

void Declare(CLI::App& app, Flags& flags) {
  app.add_option("capture", flags.capture, "A directory of captured messages, or one file")
      ->required();
  app.add_option("--descriptors", flags.descriptors,
                 "What protoc --include_imports --descriptor_set_out wrote")
      ->required();
  app.add_option("--out", flags.out, "The file of chosen exchanges to write")->required();
  app.add_option("--service-method", flags.wish.method, "/package.Service/Method");
  auto* request = app.add_option("--request", flags.wish.request, "The requests' message type");
  app.add_option("--response", flags.wish.response, "The responses' message type")->needs(request);
  app.add_option("--capture-bytes-max", flags.capture_bytes_max, "Bytes that are read at most")
      ->capture_default_str();
  app.add_option("--sample-bytes-max", flags.sample_bytes_max, "Wire bytes that are chosen")
      ->capture_default_str();
  app.add_option("--exchanges-max", flags.exchanges_max, "Exchanges that are chosen")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void LoadDescriptors(const std::string& path, DescriptorPool& pool) {
  google::protobuf::FileDescriptorSet set;
  std::ifstream file(path, std::ios::binary);
  if (!set.ParseFromIstream(&file)) {
    throw std::runtime_error(path + " is no set of descriptors, as protoc writes them");
  }
  for (const auto& proto : set.file()) {
    if (pool.BuildFile(proto) == nullptr) {
      throw std::runtime_error(proto.name() + " in " + path + " cannot be used");
    }
  }
}

// libprotobuf has the code of its own schemas already.
bool IsWellKnown(const FileDescriptor& file) { return file.name().starts_with("google/protobuf/"); }

void AddFiles(const FileDescriptor& file, std::set<std::string>& names) {
  if (IsWellKnown(file) || !names.insert(std::string(file.name())).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) AddFiles(*file.dependency(i), names);
}

json TypeOf(const Descriptor* type) {
  if (type == nullptr) return nullptr;
  namespace cpp = google::protobuf::compiler::cpp;
  std::string header(type->file()->name());
  header.resize(header.size() - std::string(".proto").size());
  return {{"name", type->full_name()},
          {"cpp", cpp::QualifiedClassName(type)},
          {"header", header + ".pb.h"}};
}

json SizesOf(std::vector<size_t> sizes) {
  if (sizes.empty()) return nullptr;
  std::ranges::sort(sizes);
  return {{"min", sizes.front()}, {"p50", sizes[sizes.size() / 2]}, {"max", sizes.back()}};
}

void Write(const std::vector<Exchange>& exchanges, const std::string& method,
           const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  for (const Exchange& exchange : exchanges) {
    replay::v1::Record record;
    record.set_method(method);
    record.set_request(exchange.request);
    if (exchange.response) record.set_response(*exchange.response);
    google::protobuf::util::SerializeDelimitedToOstream(record, &file);
  }
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

json SummaryOf(const std::vector<Exchange>& exchanges) {
  std::vector<size_t> requests, responses;
  for (const Exchange& exchange : exchanges) {
    requests.push_back(exchange.request.size());
    if (exchange.response) responses.push_back(exchange.response->size());
  }
  return {{"exchanges", exchanges.size()},
          {"with_response", responses.size()},
          {"request_bytes", SizesOf(requests)},
          {"response_bytes", SizesOf(responses)}};
}

int Prepare(int argc, char** argv) {
  CLI::App app("Chooses what of a capture is measured; prints one JSON object");
  Flags flags;
  Declare(app, flags);
  CLI11_PARSE(app, argc, argv);

  DescriptorPool pool;
  LoadDescriptors(flags.descriptors, pool);
  Capture capture = ReadCapture(flags.capture, flags.capture_bytes_max);
  const json methods = CountMethods(capture);
  const size_t captured = capture.exchanges.size();
  const MethodTypes types = ChooseTypes(flags.wish, capture, pool);
  KeepGoodOnes(types, capture);
  const json good = SummaryOf(capture.exchanges);
  Thin(capture, flags.exchanges_max, flags.sample_bytes_max);
  Write(capture.exchanges, types.method, flags.out);

  json problems = json::array();
  for (const CaptureProblem& problem : capture.problems) {
    problems.push_back({{"source", problem.source}, {"what", problem.what}});
  }
  std::set<std::string> files;
  AddFiles(*types.request->file(), files);
  if (types.response != nullptr) AddFiles(*types.response->file(), files);
  const json plan = {{"method", types.method},
                     {"request", TypeOf(types.request)},
                     {"response", TypeOf(types.response)},
                     {"files", files},
                     {"captured", captured},
                     {"methods", methods},
                     {"good", good},
                     {"used", SummaryOf(capture.exchanges)},
                     {"problems", problems}};
  // File names are whatever the disk holds.
  std::cout << plan.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
  return 0;
}

}  // namespace
}  // namespace harena::bench

int main(int argc, char** argv) {
  try {
    return harena::bench::Prepare(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
