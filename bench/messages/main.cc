// The message-cost benchmark's program: one workload, one allocator (whatever is preloaded), every
// mode. bench/messages/run.py runs it for each combination and makes the table.
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

json ToJson(const Phases& phases) {
  return {{"parse", phases.parse},
          {"build", phases.build},
          {"serialize", phases.serialize},
          {"destroy", phases.destroy}};
}

json MeasureAll(const Workload& workload, const MeasurePlan& plan) {
  json result = json::object();
  for (const auto& [mode, rounds] : Measure(workload, plan)) {
    for (const Phases& phases : rounds) result[mode].push_back(ToJson(phases));
  }
  return result;
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
    for (int i = 0; i < 4; ++i) run_all();
    const uint64_t before = counter.Read().allocations;
    run_all();
    const uint64_t after = counter.Read().allocations;
    result[mode] =
        static_cast<double>(after - before) / static_cast<double>(workload.requests.size());
  }
  return result;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Cost of a request's messages: parse, build, serialize, destroy; prints one JSON object");
  std::string name = "ranking_200k";
  std::string testdata = DefaultTestdata();
  MeasurePlan plan{.modes = MessageModes()};
  int tasks = 0;
  bool count = false;
  app.add_option("--workload", name, "Workload name")
      ->check(CLI::IsMember(WorkloadNames()))
      ->capture_default_str();
  app.add_option("--testdata", testdata, "Folder of the payloads");
  app.add_option("--modes", plan.modes, "Modes, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(MessageModes()));
  app.add_option("--threads", plan.threads, "Threads")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rounds", plan.rounds, "Rounds over all modes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--slice-ms", plan.slice_ms, "Milliseconds per mode and round")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  auto* tasks_option =
      app.add_option("--tasks", tasks,
                     "Instead: fill and end request and response this many times per thread")
          ->check(CLI::PositiveNumber);
  app.add_flag("--count", count, "Instead: count heap allocations per request")
      ->excludes(tasks_option);
  CLI11_PARSE(app, argc, argv);

  const Workload workload = LoadWorkload(name, testdata);
  json report = {{"workload", name}, {"threads", plan.threads}};
  if (count) {
    report["heap_allocs_per_request"] = CountAllocations(workload, plan);
  } else if (tasks != 0) {
    report["tasks"] = tasks;
    report["milliseconds"] = MeasureTasks(workload, plan, tasks);
  } else {
    report["phases_ns"] = MeasureAll(workload, plan);
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
