#include "bench/messages/measure.h"

#include <time.h>

#include <barrier>
#include <chrono>
#include <stdexcept>

namespace harena::bench {
namespace {

// What one thread did in one slice.
struct Share {
  Phases sum;
  double requests = 0;
  double wall_ns = 0;
  double cpu_ns = 0;
};

double ThreadCpuNs() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

Share RunFor(Runner& runner, const Traffic& traffic, double slice_ms) {
  Share share;
  Stopwatch watch;
  const double cpu_before = ThreadCpuNs();
  while (share.sum.total() < slice_ms * 1e6) {
    // All variants each time, so that every slice weighs them alike.
    for (size_t number = 0; number < traffic.requests().size(); ++number) {
      share.sum += runner.Run(number);
      ++share.requests;
    }
  }
  share.cpu_ns = ThreadCpuNs() - cpu_before;
  share.wall_ns = watch.Lap();
  return share;
}

}  // namespace

SliceRunner::SliceRunner(const Traffic& traffic, const MeasurePlan& plan)
    : traffic_(traffic), slice_ms_(plan.slice_ms), team_(plan.threads) {
  for (const std::string& mode : plan.modes) {
    ModeRunners& made = modes_[mode];
    made.factory = traffic.MakeRunners(mode);
    for (int i = 0; i < plan.threads; ++i) made.runners.push_back(made.factory->Make());
    Run(mode);
  }
}

Slice SliceRunner::Run(std::string_view mode) {
  const auto found = modes_.find(mode);
  if (found == modes_.end()) {
    throw std::invalid_argument("mode \"" + std::string(mode) + "\" is not measured here");
  }
  auto& runners = found->second.runners;
  std::vector<Share> shares(team_.size());
  std::barrier start(static_cast<ptrdiff_t>(team_.size()));
  team_.Run([&](size_t thread) {
    start.arrive_and_wait();
    shares[thread] = RunFor(*runners[thread], traffic_, slice_ms_);
  });
  Slice slice;
  Share all;
  for (const Share& share : shares) {
    slice.phases += share.sum / share.requests;
    slice.requests_per_second += share.requests / share.wall_ns * 1e9;
    all.cpu_ns += share.cpu_ns;
    all.requests += share.requests;
  }
  slice.phases = slice.phases / static_cast<double>(shares.size());
  slice.cpu_ns = all.cpu_ns / all.requests;
  return slice;
}

std::map<std::string, std::vector<Slice>> Measure(const Traffic& traffic, const MeasurePlan& plan) {
  SliceRunner runner(traffic, plan);
  std::map<std::string, std::vector<Slice>> slices;
  for (int round = 0; round < plan.rounds; ++round) {
    for (const std::string& mode : plan.modes) slices[mode].push_back(runner.Run(mode));
  }
  return slices;
}

std::map<std::string, std::vector<double>> MeasureTasks(const Traffic& traffic,
                                                        const MeasurePlan& plan, int tasks) {
  std::map<std::string, std::unique_ptr<RunnerFactory>> factories;
  for (const std::string& mode : plan.modes) factories[mode] = traffic.MakeRunners(mode);
  std::map<std::string, std::vector<double>> rounds;
  for (int round = 0; round < plan.rounds; ++round) {
    for (const std::string& mode : plan.modes) {
      std::vector<std::unique_ptr<Runner>> runners;
      for (int i = 0; i < plan.threads; ++i) runners.push_back(factories.at(mode)->Make());
      ThreadTeam team(plan.threads);
      const auto start = std::chrono::steady_clock::now();
      team.Run([&](size_t thread) {
        for (int i = 0; i < tasks; ++i) runners[thread]->Fill();
      });
      const auto end = std::chrono::steady_clock::now();
      rounds[mode].push_back(std::chrono::duration<double, std::milli>(end - start).count());
    }
  }
  return rounds;
}

}  // namespace harena::bench
