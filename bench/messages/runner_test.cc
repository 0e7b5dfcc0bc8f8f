#include "bench/messages/runner.h"

#include <gtest/gtest.h>

#include "bench/messages/bounds.h"
#include "bench/messages/small_traffic.h"
#include "bench/messages/workload_traffic.h"
#include "bench/workloads/wire.h"
#include "harena/pb/codec/access.h"

namespace harena::bench {
namespace {

const std::vector<std::string> kModes = MessageModes(kTypesCarryCodec);

// A benchmark of wrong answers measures nothing: every mode must answer as the heap does.
TEST(Runner, EveryModeAnswersAlike) {
  for (const char* name : {"ranking_8k", "vehicles", "tile"}) {
    const Workload workload = LoadWorkload(name);
    const auto traffic = MakeTraffic(workload);
    for (const std::string& mode : kModes) {
      const auto factory = traffic->MakeRunners(mode);
      const auto runner = factory->Make();
      for (size_t number = 0; number < workload.requests.size(); ++number) {
        const Phases phases = runner->Run(number);
        const std::string expected = ExpectedResponse(workload.method, workload.requests[number]);
        EXPECT_EQ(NormalizedResponse(workload.method, runner->response()), expected)
            << name << " in mode " << mode;
        EXPECT_TRUE(runner->Answer(number).ends_with(expected)) << name << " in mode " << mode;
        EXPECT_GT(phases.parse, 0);
        EXPECT_GT(phases.serialize, 0);
      }
      runner->Fill();
    }
  }
}

TEST(Runner, SmallMessagesAreSentBackAsTheyCame) {
  for (const std::string& name : SmallNames()) {
    const auto traffic = MakeSmallTraffic(name);
    for (const std::string& mode : kModes) {
      const auto factory = traffic->MakeRunners(mode);
      const auto runner = factory->Make();
      for (size_t number = 0; number < traffic->requests().size(); ++number) {
        EXPECT_EQ(traffic->requests()[number].size(), 228) << name;
        EXPECT_GT(runner->Run(number).serialize, 0);
        EXPECT_EQ(runner->response(), traffic->requests()[number]) << name << " in mode " << mode;
      }
      runner->Fill();
    }
  }
  EXPECT_EQ(MakeSmallTraffic("tile"), nullptr);
}

// What the handler reads is compared too: a request that a mode loses a field of must show.
TEST(Runner, AnAnswerHoldsTheRequestAsItWasRead) {
  const Workload workload = LoadWorkload("vehicles");
  const auto traffic = MakeTraffic(workload);
  transit_realtime::FeedMessage feed;
  ASSERT_TRUE(feed.ParseFromString(workload.requests.front()));
  for (const std::string& mode : kModes) {
    const std::string answer = traffic->MakeRunners(mode)->Make()->Answer(0);
    EXPECT_TRUE(answer.starts_with(DeterministicBytes(feed))) << mode;
  }
}

TEST(Runner, MalformedRequestsAreNotMeasured) {
  Workload workload = LoadWorkload("ranking_8k");
  workload.requests.emplace_back("\xff\xff");
  const size_t malformed = workload.requests.size() - 1;
  const auto traffic = MakeTraffic(workload);
  for (const std::string& mode : kModes) {
    const auto factory = traffic->MakeRunners(mode);
    EXPECT_THROW(factory->Make()->Run(malformed), std::runtime_error) << mode;
    EXPECT_THROW(factory->Make()->Answer(malformed), std::runtime_error) << mode;
  }
  EXPECT_THROW(traffic->MakeRunners("bound_scan")->Make()->Run(malformed), std::runtime_error);
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
    EXPECT_EQ(kModes, std::vector<std::string>{"codec"});
  } else {
    EXPECT_EQ(kModes.front(), "heap");
    EXPECT_THROW(MakeTraffic(LoadWorkload("tile"))->MakeRunners("codec"), std::invalid_argument);
  }
}

TEST(Runner, BoundsSpendTimeAndHaveNoMessages) {
  const auto traffic = MakeTraffic(LoadWorkload("ranking_8k"));
  for (const std::string& mode : BoundModes()) {
    const auto factory = traffic->MakeRunners(mode);
    const auto runner = factory->Make();
    for (size_t number = 0; number < traffic->requests().size(); ++number) {
      EXPECT_GT(runner->Run(number).parse, 0) << mode;
    }
    EXPECT_THROW(runner->Fill(), std::logic_error) << mode;
    EXPECT_THROW(runner->Answer(0), std::logic_error) << mode;
  }
}

TEST(Runner, UnknownModeIsRefusedByName) {
  const auto traffic = MakeTraffic(LoadWorkload("ranking_8k"));
  EXPECT_THROW(traffic->MakeRunners("fast"), std::invalid_argument);
}

}  // namespace
}  // namespace harena::bench
