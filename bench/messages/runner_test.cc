#include "bench/messages/runner.h"

#include <gtest/gtest.h>

namespace harena::bench {
namespace {

// A benchmark of wrong answers measures nothing: every mode must answer as the heap does.
TEST(Runner, EveryModeAnswersAlike) {
  for (const char* name : {"ranking_8k", "vehicles", "tile"}) {
    const Workload workload = LoadWorkload(name);
    for (const std::string& mode : MessageModes()) {
      const auto factory = MakeRunnerFactory(mode, workload);
      const auto runner = factory->Make();
      for (const std::string& wire : workload.requests) {
        const Phases phases = runner->Run(wire);
        EXPECT_EQ(NormalizedResponse(workload.method, runner->response()),
                  ExpectedResponse(workload.method, wire))
            << name << " in mode " << mode;
        EXPECT_GT(phases.parse, 0);
        EXPECT_GT(phases.serialize, 0);
      }
      runner->Fill();
    }
  }
}

TEST(Runner, UnknownModeIsRefusedByName) {
  const Workload workload = LoadWorkload("ranking_8k");
  EXPECT_THROW(MakeRunnerFactory("fast", workload), std::invalid_argument);
}

}  // namespace
}  // namespace harena::bench
