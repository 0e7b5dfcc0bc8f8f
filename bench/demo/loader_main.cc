// The demo's load generator: drives a demo server that runs as another process, watches that
// process from outside, and prints one JSON object.
#include <sys/prctl.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <google/protobuf/stubs/common.h>
#include <nlohmann/json.hpp>

#include "bench/demo/load.h"
#include "bench/load/build_facts.h"
#include "bench/load/process_stats.h"
#include "bench/load/server_watch.h"
#include "bench/workloads/workloads.h"

namespace {

using harena::bench::Load;
using harena::bench::LoadReport;
using harena::bench::ServerWatch;
using harena::bench::Workload;

struct Flags {
  int port = 0;
  int pid = 0;
  int cpu = -1;
  std::string workload = "ranking_200k";
  std::string testdata = harena::bench::DefaultTestdata();
  std::string alloc_count_file;
  double qps = 0;
  int in_flight = 0;
  double seconds = 1;
  int warm_up = 8;
  bool describe = false;
};

void Describe(const Flags& flags) {
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& name : harena::bench::WorkloadNames()) {
    const Workload workload = harena::bench::LoadWorkload(name, flags.testdata);
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
  const nlohmann::json description = {
      {"workloads", all},
      {"versions",
       {{"gRPC", ::grpc::Version()},
        {"protobuf", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)},
        {"compiler", harena::bench::kCompiler}}},
      {"optimized", harena::bench::kOptimized}};
  std::printf("%s\n", description.dump().c_str());
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

nlohmann::json Run(const Flags& flags) {
  const Workload workload = harena::bench::LoadWorkload(flags.workload, flags.testdata);
  Load load(Connect(flags.port), workload);
  const LoadReport warm = load.WarmUp(flags.warm_up);

  const ServerWatch watch(flags.pid, flags.alloc_count_file);
  const LoadReport report = flags.in_flight > 0 ? load.ClosedLoop(flags.in_flight, flags.seconds)
                                                : load.OpenLoop(flags.qps, flags.seconds);
  nlohmann::json result = watch.End(warm, report);
  result["workload"] = workload.name;
  result["qps_target"] = flags.in_flight > 0 ? 0 : flags.qps;
  result["in_flight"] = flags.in_flight;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("The demo's load generator; prints one JSON object");
  app.add_option("--port", flags.port, "The server's loopback port");
  app.add_option("--pid", flags.pid, "The server's process, for its CPU time and memory");
  app.add_option("--cpu", flags.cpu, "Core to run on; -1 for any")->capture_default_str();
  app.add_option("--workload", flags.workload, "Workload name")
      ->check(CLI::IsMember(harena::bench::WorkloadNames()))
      ->capture_default_str();
  app.add_option("--testdata", flags.testdata, "Folder of the payloads");
  app.add_option("--alloc-count-file", flags.alloc_count_file, "The server's allocation counter");
  auto* qps = app.add_option("--qps", flags.qps, "Open loop: requests per second")
                  ->check(CLI::PositiveNumber);
  app.add_option("--in-flight", flags.in_flight, "Closed loop: requests outstanding")
      ->check(CLI::PositiveNumber)
      ->excludes(qps);
  app.add_option("--seconds", flags.seconds, "How long")->capture_default_str();
  app.add_option("--warm-up", flags.warm_up, "Requests before measuring, at least one per variant")
      ->capture_default_str();
  app.add_flag("--describe", flags.describe, "Print workloads, sizes and versions, and end");
  CLI11_PARSE(app, argc, argv);
  if (!flags.describe && (flags.port == 0 || flags.pid == 0)) {
    std::fprintf(stderr, "demo loader: --port and --pid are required\n");
    return 2;
  }
  if (!flags.describe && flags.qps <= 0 && flags.in_flight <= 0) {
    std::fprintf(stderr, "demo loader: give --qps (open loop) or --in-flight (closed loop)\n");
    return 2;
  }
  try {
    if (flags.cpu >= 0 && !harena::bench::PinTo(flags.cpu)) {
      throw std::runtime_error("cannot pin the loader to core " + std::to_string(flags.cpu));
    }
    prctl(PR_SET_TIMERSLACK, 1);  // the default of 50 us would show in every latency
    if (flags.describe) {
      Describe(flags);
    } else {
      std::printf("%s\n", Run(flags).dump().c_str());
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "demo loader: %s\n", error.what());
    return 1;
  }
}
