#include "bench/workloads/workloads.h"

#include <algorithm>
#include <stdexcept>

#include <google/protobuf/arena.h>
#include <gtest/gtest.h>

#include "bench/workloads/ranking_source.h"
#include "bench/workloads/wire.h"
#include "harena/pb/layout/names.h"

namespace harena::bench {
namespace {

class WorkloadTest : public testing::TestWithParam<std::string> {};

TEST_P(WorkloadTest, PayloadsParseCompletelyAndSurviveARoundTrip) {
  const Workload workload = LoadWorkload(GetParam());
  ASSERT_FALSE(workload.requests.empty());
  for (const std::string& wire : workload.requests) {
    VisitMethod(workload.method, [&](auto typed) {
      typename decltype(typed)::Request request;
      ASSERT_TRUE(request.ParseFromString(wire));
      EXPECT_TRUE(request.GetReflection()->GetUnknownFields(request).empty());
      EXPECT_EQ(DeterministicBytes(request).size(), wire.size());
    });
  }
}

TEST_P(WorkloadTest, ResponsesHaveAboutTheSizeOfTheRequest) {
  const Workload workload = LoadWorkload(GetParam());
  for (const std::string& wire : workload.requests) {
    const size_t response_bytes = ExpectedResponse(workload.method, wire).size();
    EXPECT_GE(response_bytes, wire.size() / 2);
    EXPECT_LE(response_bytes, wire.size() * 2);
  }
}

TEST_P(WorkloadTest, ResponsesAreAFunctionOfTheRequestOnly) {
  const Workload first = LoadWorkload(GetParam());
  const Workload second = LoadWorkload(GetParam());
  ASSERT_EQ(first.requests, second.requests);
  for (const std::string& wire : first.requests) {
    EXPECT_EQ(ExpectedResponse(first.method, wire), ExpectedResponse(first.method, wire));
  }
}

TEST_P(WorkloadTest, HandlersDoNotDependOnWhereMessagesLive) {
  const Workload workload = LoadWorkload(GetParam());
  const std::string& wire = workload.requests.front();
  VisitMethod(workload.method, [&](auto typed) {
    google::protobuf::Arena arena;
    using Request = typename decltype(typed)::Request;
    using Response = typename decltype(typed)::Response;
    auto* request = pb::CreateOn<Request>(arena);
    auto* response = pb::CreateOn<Response>(arena);
    ASSERT_TRUE(request->ParseFromString(wire));
    typed.Handle(*request, response);
    EXPECT_EQ(DeterministicBytes(*response), ExpectedResponse(workload.method, wire));
    response->Clear();
    typed.Handle(*request, response);
    EXPECT_EQ(DeterministicBytes(*response), ExpectedResponse(workload.method, wire));
  });
}

TEST_P(WorkloadTest, NormalizedResponseUndoesMapOrder) {
  const Workload workload = LoadWorkload(GetParam());
  const std::string expected = ExpectedResponse(workload.method, workload.requests.front());
  EXPECT_EQ(NormalizedResponse(workload.method, expected), expected);
  EXPECT_EQ(NormalizedResponse(workload.method, "\xff\xff\xff"), "");
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadTest, testing::ValuesIn(WorkloadNames()),
                         [](const auto& info) { return info.param; });

TEST(Workloads, RankingSizesSpreadAroundTheNominalSize) {
  for (const auto& [name, nominal] : {std::pair{"ranking_200k", 200'000}, {"ranking_8k", 8'000}}) {
    const Workload workload = LoadWorkload(name);
    size_t total = 0, low = SIZE_MAX, high = 0;
    for (const std::string& wire : workload.requests) {
      total += wire.size();
      low = std::min(low, wire.size());
      high = std::max(high, wire.size());
    }
    const double mean = static_cast<double>(total) / static_cast<double>(workload.requests.size());
    EXPECT_NEAR(mean, nominal, nominal * 0.05) << name;
    EXPECT_LT(static_cast<double>(low), nominal * 0.85) << name;
    EXPECT_GT(static_cast<double>(high), nominal * 1.15) << name;
  }
}

TEST(Workloads, ARankingWorkloadHasTheSizeAskedFor) {
  for (const size_t bytes : {1u << 10, 16u << 10, 1u << 20}) {
    const Workload workload = MakeRankingWorkload(bytes);
    EXPECT_EQ(workload.name, "ranking_" + std::to_string(bytes));
    ASSERT_EQ(workload.requests.size(), 1u);
    // Within a candidate or so, of which the smallest request has one.
    EXPECT_NEAR(static_cast<double>(workload.requests[0].size()), static_cast<double>(bytes),
                static_cast<double>(bytes) * 0.1 + 400);
  }
}

TEST(Workloads, RankingStringsHaveTheDocumentedLengths) {
  v1::RankRequest request;
  FillRankRequest({.candidates = 40, .groups = 5}, 7, &request);
  ASSERT_EQ(request.groups_size(), 5);
  for (const v1::CandidateGroup& group : request.groups()) {
    for (const v1::Candidate& item : group.items()) {
      for (const std::string* text : {&item.item_id(), &item.name(), &item.url()}) {
        EXPECT_GE(text->size(), 8u);
        EXPECT_LE(text->size(), 60u);
      }
      EXPECT_TRUE(item.has_place());
      EXPECT_TRUE(item.tags(0).has_origin());
    }
  }
}

TEST(Workloads, RankPutsTheBestFirst) {
  v1::RankRequest request;
  FillRankRequest({.candidates = 40, .groups = 5}, 7, &request);
  v1::RankResponse response;
  Rank(request, &response);
  double group_before = 1e9;
  for (const v1::RankedGroup& group : response.groups()) {
    EXPECT_LE(group.score_best(), group_before);
    group_before = group.score_best();
    double before = group.score_best();
    for (const v1::RankedItem& item : group.items()) {
      EXPECT_LE(item.score(), before);
      before = item.score();
    }
  }
}

TEST(Workloads, BoardKeepsEveryCallAndMovesItByItsDelay) {
  transit_realtime::FeedMessage feed;
  feed.mutable_header()->set_gtfs_realtime_version("2.0");
  auto* trip = feed.add_entity()->mutable_trip_update();
  trip->mutable_trip()->set_trip_id("t1");
  trip->set_delay(60);
  auto* by_trip = trip->add_stop_time_update();
  by_trip->set_stop_id("a");
  by_trip->mutable_arrival()->set_time(3600);
  auto* by_event = trip->add_stop_time_update();
  by_event->set_stop_id("a");
  by_event->mutable_departure()->set_time(3600);
  by_event->mutable_departure()->set_delay(95);
  v1::FeedBoard board;
  BoardFeed(feed, &board);
  ASSERT_EQ(board.stops_size(), 1);
  ASSERT_EQ(board.stops(0).calls_size(), 2);
  EXPECT_EQ(board.stops(0).calls(0).arrival(), 3660);
  EXPECT_EQ(board.stops(0).calls(1).departure(), 3690);  // 3695, down to the half minute
  EXPECT_EQ(board.stops(0).span().first(), 3660);
  EXPECT_EQ(board.stops(0).span().last(), 3690);
}

TEST(Workloads, RestyledTileHasSortedKeysAndHalfTheExtent) {
  vector_tile::Tile tile;
  ASSERT_TRUE(tile.ParseFromString(LoadWorkload("tile").requests.front()));
  vector_tile::Tile restyled;
  RestyleTile(tile, &restyled);
  ASSERT_EQ(restyled.layers_size(), tile.layers_size());
  const auto& layer = restyled.layers(0);
  EXPECT_EQ(layer.extent(), tile.layers(0).extent() / 2);
  EXPECT_EQ(layer.features_size(), tile.layers(0).features_size());
  EXPECT_TRUE(std::is_sorted(layer.keys().begin(), layer.keys().end()));
  for (const auto& feature : layer.features()) {
    for (int i = 0; i + 1 < feature.tags_size(); i += 2) {
      ASSERT_LT(feature.tags(i), static_cast<uint32_t>(layer.keys_size()));
      ASSERT_LT(feature.tags(i + 1), static_cast<uint32_t>(layer.values_size()));
    }
  }
}

TEST(Workloads, RestyleDropsWhatPointsNowhere) {
  vector_tile::Tile tile;
  auto* layer = tile.add_layers();
  layer->set_version(2);
  layer->set_name("broken");
  auto* feature = layer->add_features();
  feature->add_tags(5);
  feature->add_tags(9);
  feature->add_geometry(9 + (1000u << 3));  // promises a thousand points, has none
  vector_tile::Tile restyled;
  RestyleTile(tile, &restyled);
  EXPECT_EQ(restyled.layers(0).features(0).tags_size(), 0);
  EXPECT_EQ(restyled.layers(0).features(0).geometry_size(), 1);
}

TEST(Workloads, ErrorsSayWhatToFix) {
  EXPECT_THROW(LoadWorkload("nonsense"), std::invalid_argument);
  EXPECT_THROW(LoadWorkload("trips", "no/such/folder"), std::runtime_error);
}

}  // namespace
}  // namespace harena::bench
