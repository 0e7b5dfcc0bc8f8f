// The message-cost benchmark's program: one workload, one allocator (whatever is preloaded), the
// modes of its messages. bench/messages/run.py runs it for each combination and makes the tables.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/messages/measure.h"
#include "bench/messages/runner.h"
#include "bench/tools/alloc_count_reader.h"
#include "bench/workloads/workloads.h"

namespace harena::bench {
namespace {

using nlohmann::json;

json ToJson(const Slice& slice) {
  return {{"parse", slice.phases.parse},
          {"build", slice.phases.build},
          {"serialize", slice.phases.serialize},
          {"destroy", slice.phases.destroy},
          {"cpu", slice.cpu_ns},
          {"requests_per_second", slice.requests_per_second}};
}

json MeasureAll(const Workload& workload, const MeasurePlan& plan) {
  json result = json::object();
  for (const auto& [mode, slices] : Measure(workload, plan)) {
    for (const Slice& slice : slices) result[mode].push_back(ToJson(slice));
  }
  return result;
}

// The caller sets the order and the pace, so that slices of several processes can be interleaved.
void Serve(const Workload& workload, const MeasurePlan& plan) {
  SliceRunner runner(workload, plan);
  size_t bytes = 0;
  for (const std::string& wire : workload.requests) bytes += wire.size();
  const json ready = {{"ready", plan.modes}, {"request_bytes", bytes / workload.requests.size()}};
  std::cout << ready.dump() << std::endl;
  for (std::string mode; std::getline(std::cin, mode);) {
    std::cout << ToJson(runner.Run(mode)).dump() << std::endl;
  }
}

// Allocations per request by mode, read from the counter that is preloaded into this very process.
json CountAllocations(const Workload& workload, const MeasurePlan& plan) {
  const char* file = std::getenv(kAllocCountEnv);
  if (file == nullptr) {
    throw std::runtime_error(std::string("--count needs the allocation counter: preload "
                                         "libharena_alloc_count.so and set ") +
                             kAllocCountEnv + " to a file it may write");
  }
  const AllocCountReader counter(file);
  json result = json::object();
  for (const std::string& mode : plan.modes) {
    const auto factory = MakeRunnerFactory(mode, workload);
    const auto runner = factory->Make();
    const auto run_all = [&] {
      for (const std::string& wire : workload.requests) runner->Run(wire);
    };
    // Warm: pools filled, sizes learned.
    for (int i = 0; i < 16; ++i) run_all();
    const uint64_t before = counter.Read().allocations;
    run_all();
    const uint64_t after = counter.Read().allocations;
    result[mode] =
        static_cast<double>(after - before) / static_cast<double>(workload.requests.size());
  }
  return result;
}

struct Flags {
  std::string workload = "ranking_200k";
  std::string testdata = DefaultTestdata();
  size_t ranking_bytes = 0;
  int tasks = 0;
  bool count = false;
  bool serve = false;
  MeasurePlan plan;
};

void Declare(CLI::App& app, Flags& flags) {
  auto* workload = app.add_option("--workload", flags.workload, "Workload name")
                       ->check(CLI::IsMember(WorkloadNames()))
                       ->capture_default_str();
  app.add_option("--ranking-bytes", flags.ranking_bytes,
                 "Instead of a workload: one ranking request of about this size")
      ->check(CLI::PositiveNumber)
      ->excludes(workload);
  app.add_option("--testdata", flags.testdata, "Folder of the payloads");
  std::vector<std::string> modes = MessageModes();
  for (const std::string& bound : BoundModes()) modes.push_back(bound);
  app.add_option("--modes", flags.plan.modes, "Modes, separated by commas; default: all but bounds")
      ->delimiter(',')
      ->check(CLI::IsMember(modes));
  app.add_option("--threads", flags.plan.threads, "Threads")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rounds", flags.plan.rounds, "Rounds over all modes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--slice-ms", flags.plan.slice_ms, "Milliseconds per mode and round")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  auto* tasks =
      app.add_option("--tasks", flags.tasks,
                     "Instead: fill and end request and response this many times per thread")
          ->check(CLI::PositiveNumber);
  auto* count = app.add_flag("--count", flags.count, "Instead: count heap allocations per request")
                    ->excludes(tasks);
  app.add_flag("--serve", flags.serve,
               "Instead of rounds: one slice for each line of standard input that names a mode")
      ->excludes(tasks)
      ->excludes(count);
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Cost of a request's messages: parse, build, serialize, destroy; prints one JSON object");
  Flags flags;
  Declare(app, flags);
  CLI11_PARSE(app, argc, argv);
  MeasurePlan& plan = flags.plan;
  if (plan.modes.empty()) plan.modes = MessageModes();

  const Workload workload = flags.ranking_bytes != 0 ? MakeRankingWorkload(flags.ranking_bytes)
                                                     : LoadWorkload(flags.workload, flags.testdata);
  if (flags.serve) {
    Serve(workload, plan);
    return 0;
  }
  json report = {{"workload", workload.name}, {"threads", plan.threads}};
  if (flags.count) {
    report["heap_allocs_per_request"] = CountAllocations(workload, plan);
  } else if (flags.tasks != 0) {
    report["tasks"] = flags.tasks;
    report["milliseconds"] = MeasureTasks(workload, plan, flags.tasks);
  } else {
    report["slices"] = MeasureAll(workload, plan);
  }
  std::cout << report.dump() << "\n";
  return 0;
}

}  // namespace
}  // namespace harena::bench

int main(int argc, char** argv) {
  try {
    return harena::bench::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "harena_bench_messages: " << error.what() << "\n";
    return 1;
  }
}
