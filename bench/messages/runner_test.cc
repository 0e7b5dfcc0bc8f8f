#include "bench/messages/runner.h"

#include <gtest/gtest.h>

#include "harena/pb/codec/access.h"

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

TEST(Runner, MalformedRequestsAreNotMeasured) {
  const Workload workload = LoadWorkload("ranking_8k");
  for (std::string mode : MessageModes()) {
    EXPECT_THROW(MakeRunnerFactory(mode, workload)->Make()->Run("\xff\xff"), std::runtime_error)
        << mode;
  }
  EXPECT_THROW(MakeRunnerFactory("bound_scan", workload)->Make()->Run("\xff\xff"),
               std::runtime_error);
}

// Without it the row `codec` would be a second row `pages`, and the other rows not stock
// protobuf's.
TEST(Runner, TheTypesCarryTheCodecExactlyWhereTheyShould) {
  EXPECT_EQ(pb::codec::HasCodec<v1::RankRequest>, kTypesCarryCodec);
  EXPECT_EQ(pb::codec::HasCodec<v1::RankedItem>, kTypesCarryCodec);
  EXPECT_EQ(pb::codec::HasCodec<transit_realtime::FeedMessage>, kTypesCarryCodec);
  EXPECT_EQ(pb::codec::HasCodec<vector_tile::Tile::Layer>, kTypesCarryCodec);
}

TEST(Runner, AProgramHasTheModesOfItsTypes) {
  if (kTypesCarryCodec) {
    EXPECT_EQ(MessageModes(), std::vector<std::string>{"codec"});
  } else {
    EXPECT_EQ(MessageModes().front(), "heap");
    EXPECT_THROW(MakeRunnerFactory("codec", LoadWorkload("tile")), std::invalid_argument);
  }
}

TEST(Runner, BoundsSpendTimeAndFillNothing) {
  const Workload workload = LoadWorkload("ranking_8k");
  for (const std::string& mode : BoundModes()) {
    const auto factory = MakeRunnerFactory(mode, workload);
    const auto runner = factory->Make();
    for (const std::string& wire : workload.requests) EXPECT_GT(runner->Run(wire).parse, 0) << mode;
    EXPECT_THROW(runner->Fill(), std::logic_error) << mode;
  }
}

TEST(Runner, UnknownModeIsRefusedByName) {
  const Workload workload = LoadWorkload("ranking_8k");
  EXPECT_THROW(MakeRunnerFactory("fast", workload), std::invalid_argument);
}

}  // namespace
}  // namespace harena::bench
