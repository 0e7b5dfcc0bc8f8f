// What Prometheus gets of servers that have served.
#include "harena/exporters/prometheus/collector.h"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <google/protobuf/empty.pb.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/admin/method_set.h"
#include "harena/pb/admin/served_methods.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/parse/parse.h"

namespace harena::prometheus {
namespace {

using ::prometheus::ClientMetric;
using ::prometheus::MetricFamily;
using ::testing::HasSubstr;

using Labels = std::map<std::string, std::string>;

bool Matches(const ClientMetric& metric, const Labels& wanted) {
  size_t found = 0;
  for (const auto& label : metric.label) {
    const auto want = wanted.find(label.name);
    if (want != wanted.end() && want->second == label.value) ++found;
  }
  return found == wanted.size();
}

// The one metric of that name with these labels.
std::optional<ClientMetric> Find(const std::string& name, const Labels& labels) {
  std::optional<ClientMetric> found;
  for (const MetricFamily& family : Collector().Collect()) {
    if (family.name != name) continue;
    for (const ClientMetric& metric : family.metric) {
      if (!Matches(metric, labels)) continue;
      EXPECT_FALSE(found) << name << " is there twice";
      found = metric;
    }
  }
  EXPECT_TRUE(found) << "there is no " << name;
  return found;
}

double Gauge(const std::string& name, const Labels& labels = {}) {
  const auto found = Find(name, labels);
  return found ? found->gauge.value : NAN;
}

double Counter(const std::string& name, const Labels& labels = {}) {
  const auto found = Find(name, labels);
  return found ? found->counter.value : NAN;
}

// Of a message without fields: one of a number.
constexpr char kUnknownField[] = "\x08\x01";

class TestServer {
 public:
  explicit TestServer(PagePool& pool, Options options = {}) {
    options.page_pool = &pool;
    const auto& prototype = google::protobuf::Empty::default_instance();
    method_ = std::make_shared<pb::Method>(
        "/s/A", options, prototype, prototype,
        pb::MessageTypes{.why_not_reusable = std::nullopt, .codec = false});
    set_.Add(method_);
  }

  pb::Method& method() { return *method_; }
  void Serve(size_t bytes) {
    method_->CountRequest();
    static_cast<void>(method_->scopes().Acquire().arena().Allocate(bytes));
  }
  void Parse(const std::string& wire) {
    method_->CountRequest();
    Scope scope = method_->scopes().Acquire();
    EXPECT_TRUE(pb::Parse(scope, wire, *scope.CreateMessage<google::protobuf::Empty>()));
  }

 private:
  std::shared_ptr<pb::Method> method_;
  pb::MethodSet set_{"test"};
  pb::Published published_{set_};
};

class CollectorTest : public testing::Test {
 protected:
  PagePool pool_{TestOptions()};
};

TEST_F(CollectorTest, CountsRequestsAndRefusals) {
  TestServer server(pool_);
  server.Serve(1000);
  server.method().CountMalformed();
  server.method().Refuse({.limit = kDepthMax, .levels_max = 3});
  server.method().Refuse({});
  const Labels a = {{"framework", "test"}, {"method", "/s/A"}, {"server", "1"}};
  EXPECT_EQ(Counter("harena_requests_total", a), 1);
  EXPECT_EQ(Counter("harena_malformed_requests_total", a), 1);
  EXPECT_EQ(Counter("harena_refused_requests_total", {{"limit", "depth_max"}}), 1);
  EXPECT_EQ(Counter("harena_refused_requests_total", {{"limit", "memory"}}), 1);
  EXPECT_EQ(Counter("harena_refused_requests_total", {{"limit", "request_bytes_max"}}), 0);
  EXPECT_EQ(Gauge("harena_method_mode", {{"mode", "codec"}, {"served", "pages"}}), 1);
}

TEST_F(CollectorTest, TheHistogramIsCumulative) {
  TestServer server(pool_);
  for (int i = 0; i < 40; ++i) server.Serve(3000);
  server.Serve(200'000);
  const auto histogram = Find("harena_scope_used_bytes", {})->histogram;
  EXPECT_EQ(histogram.sample_count, 41u);
  EXPECT_GE(histogram.sample_sum, 40.0 * 3000 + 200'000);
  for (const auto& bucket : histogram.bucket) {
    const uint64_t within = bucket.upper_bound < 4096 ? 0 : bucket.upper_bound < 200'000 ? 40 : 41;
    EXPECT_EQ(bucket.cumulative_count, within) << bucket.upper_bound;
  }
  EXPECT_TRUE(std::isinf(histogram.bucket.back().upper_bound));
  EXPECT_EQ(Counter("harena_scope_overflows_total"), 1);
  EXPECT_GE(Gauge("harena_scope_used_bytes_recent", {{"percentile", "50"}}), 3000);
  EXPECT_GE(Gauge("harena_scope_used_bytes_max"), 200'000);
}

TEST_F(CollectorTest, NoLimitIsInfinite) {
  TestServer server(pool_, {.request_bytes_max = kMiB});
  EXPECT_EQ(Gauge("harena_request_bytes_max"), static_cast<double>(kMiB));
  ASSERT_EQ(server.method().scopes().SetRequestBytesMax(kUnlimitedBytes), std::nullopt);
  EXPECT_TRUE(std::isinf(Gauge("harena_request_bytes_max")));
  EXPECT_TRUE(std::isinf(Gauge("harena_process_bytes_max")));
}

TEST_F(CollectorTest, TwoServersOfOneMethodAreTwo) {
  TestServer first(pool_);
  TestServer second(pool_);
  first.Serve(1);
  second.Serve(1);
  second.Serve(1);
  EXPECT_EQ(Counter("harena_requests_total", {{"server", "1"}}), 1);
  EXPECT_EQ(Counter("harena_requests_total", {{"server", "2"}}), 2);
  // One pool for both is one pool.
  EXPECT_EQ(
      Counter("harena_pool_blocks_allocated_total", {{"pool", std::to_string(pool_.index())}}), 3);
}

TEST_F(CollectorTest, PoolsAndDetachedScopes) {
  TestServer server(pool_);
  DetachedScope detached = server.method().scopes().Acquire().Detach();
  EXPECT_EQ(Gauge("harena_scopes_detached_live"), 1);
  EXPECT_EQ(Gauge("harena_scopes_live"), 1);
  const Labels in_use = {{"pool", std::to_string(pool_.index())}, {"state", "in_use"}};
  EXPECT_EQ(Gauge("harena_pool_bytes", in_use), static_cast<double>(64 * kKiB));
  detached.Reset();
  EXPECT_EQ(Gauge("harena_scopes_detached_live"), 0);
  EXPECT_EQ(Gauge("harena_pool_bytes", in_use), 0);
  EXPECT_EQ(Gauge("harena_pool_retained_bytes_max", {{"pool", "default"}}),
            static_cast<double>(PagePool::Default().retention().retained_bytes_max));
}

bool Exported(const std::string& name) {
  for (const MetricFamily& family : Collector().Collect()) {
    if (family.name == name) return true;
  }
  return false;
}

// What nobody knows is not zero.
TEST_F(CollectorTest, BytesOfTheWireAreThereWhereSomebodyCounts) {
  constexpr char kWire[] = "harena_request_wire_bytes_total";
  TestServer server(pool_);
  EXPECT_EQ(Counter(kWire), 0);  // of no request
  server.Serve(1);
  EXPECT_FALSE(Exported(kWire));
  server.Parse(kUnknownField);
  EXPECT_EQ(Counter(kWire), 2);
}

TEST_F(CollectorTest, ParsingIsTimedInOneRequestOf64) {
  TestServer server(pool_);
  for (int i = 0; i < 64 * 100; ++i) server.Parse(kUnknownField);
  const auto histogram = Find("harena_parse_seconds", {})->histogram;
  EXPECT_GT(histogram.sample_count, 50u);
  EXPECT_LT(histogram.sample_count, 200u);
  EXPECT_GT(histogram.sample_sum, 0);
  EXPECT_LT(histogram.sample_sum, 10);
  EXPECT_DOUBLE_EQ(histogram.bucket.front().upper_bound, 1.024e-6);
  EXPECT_EQ(Find("harena_serialize_seconds", {})->histogram.sample_count, 0u);
}

TEST_F(CollectorTest, WhyRequestsFellBackToTheHeap) {
  TestServer server(pool_);
  EXPECT_EQ(server.method().Serve(Mode::kCodec), Mode::kPages);
  EXPECT_EQ(server.method().Serve(Mode::kPages), Mode::kPages);
  server.method().CountNoScope();
  server.method().CountNoScope();
  EXPECT_EQ(Counter("harena_heap_fallbacks_total", {{"reason", "no_codec"}}), 1);
  EXPECT_EQ(Counter("harena_heap_fallbacks_total", {{"reason", "not_reusable"}}), 0);
  EXPECT_EQ(Counter("harena_heap_fallbacks_total", {{"reason", "no_scope"}}), 2);
}

TEST_F(CollectorTest, BlocksAreCountedByMethod) {
  TestServer server(pool_);
  server.Serve(200'000);
  server.Serve(1);
  const auto blocks = Find("harena_scope_blocks", {})->histogram;
  EXPECT_EQ(blocks.sample_sum, static_cast<double>(pool_.stats().blocks_freed));
  EXPECT_EQ(blocks.sample_count, 2u);
  EXPECT_EQ(blocks.bucket.front().upper_bound, 1);
  EXPECT_EQ(blocks.bucket.front().cumulative_count, 1u);
  EXPECT_TRUE(std::isinf(blocks.bucket.back().upper_bound));
}

TEST_F(CollectorTest, BlocksThatComeBackOnAnotherThreadAreCountedByPool) {
  const Labels pool = {{"pool", std::to_string(pool_.index())}};
  TestServer server(pool_);
  server.Serve(1);
  EXPECT_EQ(Counter("harena_scopes_moved_total"), 0);
  EXPECT_EQ(Counter("harena_pool_blocks_moved_total", pool), 0);
  std::optional<Scope> scope(server.method().scopes().Acquire());
  static_cast<void>(scope->arena().Allocate(200'000));
  const uint64_t blocks = scope->arena().stats().blocks;
  EXPECT_GT(blocks, 1u);
  std::thread([&] { scope.reset(); }).join();
  EXPECT_EQ(Counter("harena_scopes_moved_total"), 1);
  EXPECT_EQ(Counter("harena_pool_blocks_moved_total", pool), static_cast<double>(blocks));
}

TEST_F(CollectorTest, HugePagesAreWhatTheSystemAgreedTo) {
  PagePoolOptions options = TestOptions();
  options.huge_pages = HugePages::kAdvise;
  PagePool pool(options);
  TestServer server(pool);
  server.Serve(1);
  const Labels labels = {{"pool", std::to_string(pool.index())}};
  const PagePoolStats stats = pool.stats();
  EXPECT_TRUE(stats.bytes_huge_advised == 0 || stats.bytes_huge_advised == stats.bytes_mapped);
  EXPECT_EQ(Gauge("harena_pool_huge_advised_bytes", labels),
            static_cast<double>(stats.bytes_huge_advised));
  pool.Trim();
  EXPECT_EQ(pool.stats().bytes_huge_advised, 0u);
}

// The endings of names and the text format are prometheus-cpp's: what a scrape shows.
TEST_F(CollectorTest, TheTextIsWhatPrometheusReads) {
  TestServer server(pool_);
  server.Serve(5000);
  const std::string text = ::prometheus::TextSerializer().Serialize(Collector().Collect());
  EXPECT_THAT(text, HasSubstr("# TYPE harena_scope_used_bytes histogram\n"));
  EXPECT_THAT(text, HasSubstr("harena_requests_total{framework=\"test\",method=\"/s/A\","
                              "server=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("harena_scope_used_bytes_bucket{framework=\"test\",method=\"/s/A\","
                              "server=\"1\",le=\"+Inf\"} 1\n"));
}

}  // namespace
}  // namespace harena::prometheus
