#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/load/server_watch.h"

namespace harena::bench {

/// What every load generator is told.
struct LoaderFlags {
  int port = 0;
  int pid = 0;
  int cpu = -1;
  std::string workload;  ///< What it is by default is the program's.
  std::string alloc_count_file;
  std::string background_thread;  ///< Of the server; what it allocates is no request's.
  double qps = 0;
  int in_flight = 0;
  double seconds = 1;
  int warm_up = 8;
  bool describe = false;
};

/// Adds them to a command line. `flags` has to stay until that is parsed.
void AddLoaderFlags(CLI::App& app, LoaderFlags& flags, const std::vector<std::string>& workloads);

/// The rest of a load generator's main(): prints what `describe` or `run` returns as one JSON
/// object. The answer is the exit code; errors go to standard error, after `name`.
int RunLoader(const std::string& name, const LoaderFlags& flags,
              const std::function<nlohmann::json()>& describe,
              const std::function<nlohmann::json()>& run);

/// Warms `load` up, lets it run as the flags say, and reports on it and on the server.
template <typename Load>
nlohmann::json Measure(Load& load, const LoaderFlags& flags) {
  const LoadReport warm = load.WarmUp(flags.warm_up);
  const ServerWatch watch(flags.pid, flags.alloc_count_file, flags.background_thread);
  const LoadReport report = flags.in_flight > 0 ? load.ClosedLoop(flags.in_flight, flags.seconds)
                                                : load.OpenLoop(flags.qps, flags.seconds);
  nlohmann::json result = watch.End(warm, report);
  result["workload"] = flags.workload;
  result["qps_target"] = flags.in_flight > 0 ? 0 : flags.qps;
  result["in_flight"] = flags.in_flight;
  return result;
}

}  // namespace harena::bench
