// The demo's load generator: drives a demo server that runs as another process, watches that
// process from outside, and prints one JSON object.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <google/protobuf/stubs/common.h>
#include <nlohmann/json.hpp>

#include "bench/demo/load.h"
#include "bench/load/build_facts.h"
#include "bench/load/loader_program.h"
#include "bench/workloads/workloads.h"

namespace {

using harena::bench::Load;
using harena::bench::LoaderFlags;
using harena::bench::Workload;

nlohmann::json Describe(const std::string& testdata) {
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& name : harena::bench::WorkloadNames()) {
    const Workload workload = harena::bench::LoadWorkload(name, testdata);
    nlohmann::json requests, responses;
    for (const std::string& wire : workload.requests) {
      requests.push_back(wire.size());
      responses.push_back(harena::bench::ExpectedResponse(workload.method, wire).size());
    }
    all.push_back({{"workload", name},
                   {"method", workload.method_name},
                   {"request_bytes", requests},
                   {"response_bytes", responses}});
  }
  return {{"workloads", all},
          {"versions",
           {{"gRPC", ::grpc::Version()},
            {"protobuf", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)},
            {"compiler", harena::bench::kCompiler}}},
          {"optimized", harena::bench::kOptimized}};
}

std::shared_ptr<::grpc::Channel> Connect(int port) {
  ::grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(64 << 20);
  auto channel = ::grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                             ::grpc::InsecureChannelCredentials(), arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(5))) {
    throw std::runtime_error("no server on port " + std::to_string(port));
  }
  return channel;
}

nlohmann::json Run(const LoaderFlags& flags, const std::string& testdata) {
  const Workload workload = harena::bench::LoadWorkload(flags.workload, testdata);
  Load load(Connect(flags.port), workload);
  return harena::bench::Measure(load, flags);
}

}  // namespace

int main(int argc, char** argv) {
  LoaderFlags flags;
  flags.workload = "ranking_200k";
  std::string testdata = harena::bench::DefaultTestdata();
  CLI::App app("The demo's load generator; prints one JSON object");
  harena::bench::AddLoaderFlags(app, flags, harena::bench::WorkloadNames());
  app.add_option("--testdata", testdata, "Folder of the payloads");
  CLI11_PARSE(app, argc, argv);
  return harena::bench::RunLoader(
      "demo loader", flags, [&] { return Describe(testdata); },
      [&] { return Run(flags, testdata); });
}
