// A handler that keeps its request without Detach(), and what is said when somebody reads it.
#include "harena/guard/quarantine.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>

#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"
#include "harena/base/compiler.h"
#include "harena/guard/fault_reporter.h"
#include "tests/safety_count.h"

namespace harena::grpc {
namespace {

using QuarantineDeathTest = ModeTest;
INSTANTIATE_TEST_SUITE_P(Modes, QuarantineDeathTest,
                         testing::Values(Mode::kPages, Mode::kReuse, Mode::kCodec), ModeName);

// Runs in a process of its own: the server has threads.
void ReadAKeptRequest(Mode mode) {
  InstallFaultReporter();
  std::atomic<const Task*> kept{nullptr};
  Rig<> rig;
  rig.service.on_run = [&kept](::grpc::CallbackServerContext*, const Task* task, Result* result) {
    Answer(*task, result);
    kept.store(task);
    return FinishNow();
  };
  rig.Start(Options{.mode = mode, .quarantine_one_in = 1});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rig.Run(MakeTask()).ok());
  // A scope that is not alive any more may be about to give its blocks back.
  EXPECT_TRUE(Eventually([&] {
    const PagePoolStats blocks = guard::QuarantineOf(rig.pool())->stats();
    return rig.scopes_live() == 0 && blocks.bytes_in_use == 0 &&
           guard::QuarantineStatsOf(rig.pool()).blocks_entered == blocks.blocks_freed;
  }));
  static_cast<void>(*reinterpret_cast<const volatile char*>(kept.load()));
}

TEST_P(QuarantineDeathTest, AKeptRequestIsReportedWithItsMethod) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ReadAKeptRequest(GetParam()),
               HARENA_ASAN ? "AddressSanitizer"
                           : "FAULT: read after the end of a scope.*scope 3 of "
                             "/harena.test.Work/Run.*ended [0-9]+ ms ago");
  SafetyCount(HasFailure() ? "detectors_silent" : "detectors_fired", 1);
}

TEST_P(QuarantineDeathTest, SampledCallsAnswerLikeOthers) {
  Rig<> rig;
  rig.Start(Options{.mode = GetParam(), .quarantine_one_in = 2});
  for (int i = 0; i < 50; ++i) {
    Result result;
    ASSERT_TRUE(rig.Run(MakeTask(i), &result).ok());
    EXPECT_EQ(result.items_size(), i);
    EXPECT_EQ(result.number(), 42);
  }
  rig.ExpectAllMemoryBack();
  EXPECT_GT(rig.stats().scopes.scopes_sampled, 10u);
  EXPECT_GT(guard::QuarantineStatsOf(rig.pool()).blocks_entered, 10u);
}

// Each server says on standard error what the first one is asked to say.
[[noreturn]] void StartServers() {
  const auto start = [](const char* name, bool self_check) {
    std::fprintf(stderr, "[%s]", name);
    Rig<> rig;
    rig.Start(ServerOptions{.defaults = {.mode = Mode::kPages, .quarantine_one_in = 77},
                            .self_check = self_check});
  };
  start("told not to", false);
  start("first", true);
  start("second", true);
  std::fprintf(stderr, "[end]");
  _exit(0);
}

TEST(SelfCheckDeathTest, TheFirstServerSaysWhatIsOnUnlessToldNotTo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // Newer gRPC has lines of its own for each server.
  const std::string grpc_lines = "([^\n]*(WARNING:|You are marking method)[^\n]*\n)*";
  EXPECT_EXIT(StartServers(), testing::ExitedWithCode(0),
              "\\[told not to\\]" + grpc_lines + "\\[first\\]" + grpc_lines +
                  "harena: self-check: [^\n]*quarantine works[^\n]*1 in 77 scopes[^\n]*\n" +
                  "\\[second\\]" + grpc_lines + "\\[end\\]");
}

}  // namespace
}  // namespace harena::grpc
