#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/messages/phases.h"
#include "bench/messages/runner.h"
#include "bench/messages/thread_team.h"

namespace harena::bench {

struct MeasurePlan {
  std::vector<std::string> modes;
  int threads = 1;
  int rounds = 5;
  double slice_ms = 60;  ///< How long one mode runs in one round.
};

/// One stretch of requests in one mode.
struct Slice {
  Phases phases;      ///< Per request; the average over the threads of each thread's own wall time.
  double cpu_ns = 0;  ///< CPU time per request, of all threads.
  double requests_per_second = 0;  ///< Of all threads together.
};

/// Runs slices of a plan's modes, in whatever order the caller wants.
/// Thread rule: one thread at a time. Lifetime rule: `traffic` must outlive it.
class SliceRunner {
 public:
  /// Makes the runners of every mode and warms each with one slice.
  SliceRunner(const Traffic& traffic, const MeasurePlan& plan);

  /// Throws std::invalid_argument for a mode that is not in the plan.
  Slice Run(std::string_view mode);

 private:
  struct ModeRunners {
    std::unique_ptr<RunnerFactory> factory;
    std::vector<std::unique_ptr<Runner>> runners;  // one per thread
  };

  const Traffic& traffic_;
  const double slice_ms_;
  std::map<std::string, ModeRunners, std::less<>> modes_;
  ThreadTeam team_;  // ends first: nothing of the above may go while a thread runs
};

/// Runs every mode in turn, round after round: the slices of each, one per round.
std::map<std::string, std::vector<Slice>> Measure(const Traffic& traffic, const MeasurePlan& plan);

/// The test of tRPC-Cpp's arena page: `threads` threads, each `tasks` times filling a request and a
/// response and ending them. Milliseconds from the first start to the last end, per round.
std::map<std::string, std::vector<double>> MeasureTasks(const Traffic& traffic,
                                                        const MeasurePlan& plan, int tasks);

}  // namespace harena::bench
