#include "bench/messages/measure.h"

#include <barrier>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "bench/messages/runner.h"

namespace harena::bench {
namespace {

using Factories = std::map<std::string, std::unique_ptr<RunnerFactory>>;

Factories MakeFactories(const Workload& workload, const MeasurePlan& plan) {
  Factories factories;
  for (const std::string& mode : plan.modes) {
    factories[mode] = MakeRunnerFactory(mode, workload);
  }
  return factories;
}

// Runs `body(thread)` on every thread at once; rethrows the first exception of any.
template <typename Body>
void OnThreads(int threads, Body&& body) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::thread> running;
  running.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      try {
        body(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  if (failure) std::rethrow_exception(failure);
}

// One slice of one mode: every thread handles requests until the time is up.
Phases Slice(const Workload& workload, std::vector<std::unique_ptr<Runner>>& runners,
             double slice_ms) {
  std::vector<Phases> averages(runners.size());
  std::barrier start(static_cast<ptrdiff_t>(runners.size()));
  OnThreads(static_cast<int>(runners.size()), [&](int thread) {
    Runner& runner = *runners[static_cast<size_t>(thread)];
    start.arrive_and_wait();
    Phases sum;
    double count = 0;
    const double end_ns = slice_ms * 1e6;
    while (sum.total() < end_ns) {
      // All variants each time, so that every slice weighs them alike.
      for (const std::string& wire : workload.requests) {
        sum += runner.Run(wire);
        ++count;
      }
    }
    averages[static_cast<size_t>(thread)] = sum / count;
  });
  Phases sum;
  for (const Phases& average : averages) sum += average;
  return sum / static_cast<double>(averages.size());
}

}  // namespace

std::map<std::string, Rounds> Measure(const Workload& workload, const MeasurePlan& plan) {
  const Factories factories = MakeFactories(workload, plan);
  std::map<std::string, std::vector<std::unique_ptr<Runner>>> runners;
  for (const auto& [mode, factory] : factories) {
    for (int i = 0; i < plan.threads; ++i) runners[mode].push_back(factory->Make());
    Slice(workload, runners[mode], plan.slice_ms);
  }
  std::map<std::string, Rounds> rounds;
  for (int round = 0; round < plan.rounds; ++round) {
    for (const std::string& mode : plan.modes) {
      rounds[mode].push_back(Slice(workload, runners[mode], plan.slice_ms));
    }
  }
  return rounds;
}

std::map<std::string, std::vector<double>> MeasureTasks(const Workload& workload,
                                                        const MeasurePlan& plan, int tasks) {
  const Factories factories = MakeFactories(workload, plan);
  std::map<std::string, std::vector<double>> rounds;
  for (int round = 0; round < plan.rounds; ++round) {
    for (const std::string& mode : plan.modes) {
      std::vector<std::unique_ptr<Runner>> runners;
      for (int i = 0; i < plan.threads; ++i) runners.push_back(factories.at(mode)->Make());
      const auto start = std::chrono::steady_clock::now();
      OnThreads(plan.threads, [&](int thread) {
        for (int i = 0; i < tasks; ++i) runners[static_cast<size_t>(thread)]->Fill();
      });
      const auto end = std::chrono::steady_clock::now();
      rounds[mode].push_back(std::chrono::duration<double, std::milli>(end - start).count());
    }
  }
  return rounds;
}

}  // namespace harena::bench
