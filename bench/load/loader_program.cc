#include "bench/load/loader_program.h"

#include <sys/prctl.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

#include "bench/load/process_stats.h"

namespace harena::bench {

void AddLoaderFlags(CLI::App& app, LoaderFlags& flags, const std::vector<std::string>& workloads) {
  app.add_option("--port", flags.port, "The server's loopback port");
  app.add_option("--pid", flags.pid, "The server's process, for its CPU time and memory");
  app.add_option("--cpu", flags.cpu, "Core to run on; -1 for any")->capture_default_str();
  app.add_option("--workload", flags.workload, "Workload name")
      ->check(CLI::IsMember(workloads))
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
}

int RunLoader(const std::string& name, const LoaderFlags& flags,
              const std::function<nlohmann::json()>& describe,
              const std::function<nlohmann::json()>& run) {
  if (!flags.describe && (flags.port == 0 || flags.pid == 0)) {
    std::fprintf(stderr, "%s: --port and --pid are required\n", name.c_str());
    return 2;
  }
  if (!flags.describe && flags.qps <= 0 && flags.in_flight <= 0) {
    std::fprintf(stderr, "%s: give --qps (open loop) or --in-flight (closed loop)\n", name.c_str());
    return 2;
  }
  try {
    if (flags.cpu >= 0 && !PinTo(flags.cpu)) {
      throw std::runtime_error("cannot pin the loader to core " + std::to_string(flags.cpu));
    }
    prctl(PR_SET_TIMERSLACK, 1);  // the default of 50 us would show in every latency
    std::printf("%s\n", (flags.describe ? describe() : run()).dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return 1;
  }
}

}  // namespace harena::bench
