#include "bench/messages/program.h"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/messages/measure.h"
#include "bench/tools/alloc_count_reader.h"

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

json MeasureAll(const Traffic& traffic, const MeasurePlan& plan) {
  json result = json::object();
  for (const auto& [mode, slices] : Measure(traffic, plan)) {
    for (const Slice& slice : slices) result[mode].push_back(ToJson(slice));
  }
  return result;
}

// The caller sets the order and the pace, so that slices of several processes can be interleaved.
void Serve(const Traffic& traffic, const MeasurePlan& plan) {
  SliceRunner runner(traffic, plan);
  size_t bytes = 0;
  for (const std::string& wire : traffic.requests()) bytes += wire.size();
  const json ready = {{"ready", plan.modes}, {"request_bytes", bytes / traffic.requests().size()}};
  std::cout << ready.dump() << std::endl;
  for (std::string mode; std::getline(std::cin, mode);) {
    std::cout << ToJson(runner.Run(mode)).dump() << std::endl;
  }
}

// Allocations per request by mode, read from the counter that is preloaded into this very process.
json CountAllocations(const Traffic& traffic, const MeasurePlan& plan) {
  const char* file = std::getenv(kAllocCountEnv);
  if (file == nullptr) {
    throw std::runtime_error(std::string("--count needs the allocation counter: preload "
                                         "libharena_alloc_count.so and set ") +
                             kAllocCountEnv + " to a file it may write");
  }
  const AllocCountReader counter(file);
  json result = json::object();
  for (const std::string& mode : plan.modes) {
    const auto factory = traffic.MakeRunners(mode);
    const auto runner = factory->Make();
    const auto run_all = [&] {
      for (size_t number = 0; number < traffic.requests().size(); ++number) runner->Run(number);
    };
    // Warm: pools filled, sizes learned.
    for (int i = 0; i < 16; ++i) run_all();
    const uint64_t before = counter.Read().allocations;
    run_all();
    const uint64_t after = counter.Read().allocations;
    result[mode] =
        static_cast<double>(after - before) / static_cast<double>(traffic.requests().size());
  }
  return result;
}

// Every mode's answers one after the other, as they are: for a comparison from outside.
void WriteAnswers(const Traffic& traffic, const MeasurePlan& plan) {
  for (const std::string& mode : plan.modes) {
    const auto factory = traffic.MakeRunners(mode);
    const auto runner = factory->Make();
    for (size_t number = 0; number < traffic.requests().size(); ++number) {
      const std::string answer = runner->Answer(number);
      std::cout.write(answer.data(), static_cast<std::streamsize>(answer.size()));
    }
  }
  std::cout.flush();
}

struct Flags {
  int tasks = 0;
  bool count = false;
  bool serve = false;
  bool answers = false;
  MeasurePlan plan;
};

void Declare(const MessageProgram& program, CLI::App& app, Flags& flags) {
  std::vector<std::string> modes = program.modes;
  modes.insert(modes.end(), program.other_modes.begin(), program.other_modes.end());
  flags.plan.modes = program.modes;
  app.add_option("--modes", flags.plan.modes, "Modes, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(modes))
      ->capture_default_str();
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
  auto* answers = app.add_flag("--answers", flags.answers,
                               "Instead: write what the modes read and answer, in wire bytes")
                      ->excludes(tasks)
                      ->excludes(count);
  app.add_flag("--serve", flags.serve,
               "Instead of rounds: one slice for each line of standard input that names a mode")
      ->excludes(tasks)
      ->excludes(count)
      ->excludes(answers);
}

void Report(const Traffic& traffic, const Flags& flags) {
  json report = {{"workload", traffic.name()}, {"threads", flags.plan.threads}};
  if (flags.count) {
    report["heap_allocs_per_request"] = CountAllocations(traffic, flags.plan);
  } else if (flags.tasks != 0) {
    report["tasks"] = flags.tasks;
    report["milliseconds"] = MeasureTasks(traffic, flags.plan, flags.tasks);
  } else {
    report["slices"] = MeasureAll(traffic, flags.plan);
  }
  std::cout << report.dump() << "\n";
}

int Run(const MessageProgram& program, int argc, char** argv) {
  CLI::App app(
      "Cost of a request's messages: parse, build, serialize, destroy; prints one JSON object");
  Flags flags;
  program.declare(app);
  Declare(program, app, flags);
  CLI11_PARSE(app, argc, argv);
  const std::unique_ptr<Traffic> traffic = program.load();
  if (flags.serve) {
    Serve(*traffic, flags.plan);
  } else if (flags.answers) {
    WriteAnswers(*traffic, flags.plan);
  } else {
    Report(*traffic, flags);
  }
  return 0;
}

}  // namespace

int RunMessageProgram(const MessageProgram& program, int argc, char** argv) {
  try {
    return Run(program, argc, argv);
  } catch (const std::exception& error) {
    std::cerr << program.name << ": " << error.what() << "\n";
    return 1;
  }
}

}  // namespace harena::bench
