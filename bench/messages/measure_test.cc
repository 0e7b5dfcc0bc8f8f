#include "bench/messages/measure.h"

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "bench/messages/workload_traffic.h"

namespace harena::bench {
namespace {

TEST(ThreadTeam, EveryThreadRunsEveryTaskOnce) {
  ThreadTeam team(3);
  std::vector<std::atomic<int>> runs(3);
  for (int i = 0; i < 100; ++i) team.Run([&](size_t thread) { ++runs[thread]; });
  for (const auto& count : runs) EXPECT_EQ(count, 100);
}

TEST(ThreadTeam, ThreadsStayTheSame) {
  ThreadTeam team(2);
  std::vector<std::thread::id> first(2), second(2);
  team.Run([&](size_t thread) { first[thread] = std::this_thread::get_id(); });
  team.Run([&](size_t thread) { second[thread] = std::this_thread::get_id(); });
  EXPECT_EQ(first, second);
  EXPECT_NE(first[0], first[1]);
}

TEST(ThreadTeam, AnExceptionReachesTheCallerAndTheTeamGoesOn) {
  ThreadTeam team(2);
  EXPECT_THROW(team.Run([](size_t thread) {
    if (thread == 1) throw std::runtime_error("one");
  }),
               std::runtime_error);
  int runs = 0;
  team.Run([&](size_t thread) { runs += thread == 0; });
  EXPECT_EQ(runs, 1);
}

TEST(Measure, ASliceHasPhasesCpuAndThroughput) {
  const auto traffic = MakeTraffic(LoadWorkload("ranking_8k"));
  const std::string mode = MessageModes(kTypesCarryCodec).front();
  for (const int threads : {1, 3}) {
    SliceRunner runner(*traffic, {.modes = {mode}, .threads = threads, .slice_ms = 5});
    const Slice slice = runner.Run(mode);
    EXPECT_GT(slice.phases.parse, 0);
    EXPECT_GT(slice.cpu_ns, 0);
    EXPECT_GT(slice.requests_per_second, 0);
    // One thread's requests do not overlap.
    if (threads == 1) {
      EXPECT_LE(slice.requests_per_second * slice.phases.total() / 1e9, 1.001);
    }
    EXPECT_THROW(runner.Run("bound_scan"), std::invalid_argument);
  }
}

TEST(Measure, EveryModeHasEveryRound) {
  const auto traffic = MakeTraffic(LoadWorkload("ranking_8k"));
  const MeasurePlan plan{.modes = MessageModes(kTypesCarryCodec), .rounds = 2, .slice_ms = 1};
  const auto slices = Measure(*traffic, plan);
  EXPECT_EQ(slices.size(), plan.modes.size());
  for (const auto& [mode, rounds] : slices) EXPECT_EQ(rounds.size(), 2u) << mode;
  const auto tasks = MeasureTasks(*traffic, plan, 3);
  for (const std::string& mode : plan.modes) EXPECT_EQ(tasks.at(mode).size(), 2u) << mode;
}

}  // namespace
}  // namespace harena::bench
