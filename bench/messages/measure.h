#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/messages/phases.h"
#include "bench/workloads/workloads.h"

namespace harena::bench {

struct MeasurePlan {
  std::vector<std::string> modes;
  int threads = 1;
  int rounds = 5;
  double slice_ms = 60;  ///< How long one mode runs in one round.
};

/// One mode's phases per request, averaged within a round; one entry per round. With several
/// threads, the average over the threads of each thread's own time per request.
using Rounds = std::vector<Phases>;

/// Runs every mode in turn, round after round, after one warm-up slice each.
std::map<std::string, Rounds> Measure(const Workload& workload, const MeasurePlan& plan);

/// The test of tRPC-Cpp's arena page: `threads` threads, each `tasks` times filling a request and a
/// response and ending them. Milliseconds from the first start to the last end, per round.
std::map<std::string, std::vector<double>> MeasureTasks(const Workload& workload,
                                                        const MeasurePlan& plan, int tasks);

}  // namespace harena::bench
