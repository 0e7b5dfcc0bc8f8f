// The load generator for brpc servers: drives one that runs as another process, watches that
// process from outside, and prints one JSON object.
#include <sys/prctl.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <butil/logging.h>
#include <google/protobuf/stubs/common.h>
#include <nlohmann/json.hpp>

#include "bench/brpc/load.h"
#include "bench/brpc/term_pool.h"
#include "bench/load/build_facts.h"
#include "bench/load/process_stats.h"
#include "bench/load/server_watch.h"

namespace {

using harena::bench::BrpcLoad;
using harena::bench::LoadReport;
using harena::bench::ServerWatch;
using harena::bench::TermPool;

struct Flags {
  int port = 0;
  int pid = 0;
  int cpu = -1;
  std::string workload = "terms";
  std::string alloc_count_file;
  double qps = 0;
  int in_flight = 0;
  double seconds = 1;
  int warm_up = 8;
  bool describe = false;
};

void Describe() {
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& name : harena::bench::TermPoolNames()) {
    nlohmann::json sizes = nlohmann::json::array();
    for (const std::string& wire : harena::bench::MakeTermPool(name).requests) {
      sizes.push_back(wire.size());
    }
    all.push_back({{"workload", name},
                   {"method", "Echo"},
                   {"request_bytes", sizes},
                   {"response_bytes", sizes}});
  }
  const nlohmann::json description = {
      {"workloads", all},
      {"versions",
       {{"brpc", HARENA_BENCH_BRPC_VERSION},
        {"protobuf", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)},
        {"compiler", harena::bench::kCompiler}}},
      {"optimized", harena::bench::kOptimized}};
  std::printf("%s\n", description.dump().c_str());
}

nlohmann::json Run(const Flags& flags) {
  const TermPool pool = harena::bench::MakeTermPool(flags.workload);
  BrpcLoad load(flags.port, pool);
  const LoadReport warm = load.WarmUp(flags.warm_up);
  const ServerWatch watch(flags.pid, flags.alloc_count_file);
  const LoadReport report = flags.in_flight > 0 ? load.ClosedLoop(flags.in_flight, flags.seconds)
                                                : load.OpenLoop(flags.qps, flags.seconds);
  nlohmann::json result = watch.End(warm, report);
  result["workload"] = pool.name;
  result["qps_target"] = flags.in_flight > 0 ? 0 : flags.qps;
  result["in_flight"] = flags.in_flight;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("The load generator for brpc servers; prints one JSON object");
  app.add_option("--port", flags.port, "The server's loopback port");
  app.add_option("--pid", flags.pid, "The server's process, for its CPU time and memory");
  app.add_option("--cpu", flags.cpu, "Core to run on; -1 for any")->capture_default_str();
  app.add_option("--workload", flags.workload, "Workload name")
      ->check(CLI::IsMember(harena::bench::TermPoolNames()))
      ->capture_default_str();
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
    std::fprintf(stderr, "brpc loader: --port and --pid are required\n");
    return 2;
  }
  if (!flags.describe && flags.qps <= 0 && flags.in_flight <= 0) {
    std::fprintf(stderr, "brpc loader: give --qps (open loop) or --in-flight (closed loop)\n");
    return 2;
  }
  try {
    logging::SetMinLogLevel(logging::BLOG_FATAL);  // what fails is in the report
    if (flags.cpu >= 0 && !harena::bench::PinTo(flags.cpu)) {
      throw std::runtime_error("cannot pin the loader to core " + std::to_string(flags.cpu));
    }
    prctl(PR_SET_TIMERSLACK, 1);  // the default of 50 us would show in every latency
    if (flags.describe) {
      Describe();
    } else {
      std::printf("%s\n", Run(flags).dump().c_str());
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "brpc loader: %s\n", error.what());
    return 1;
  }
}
