#include "harena/exporters/prometheus/internal/metrics.h"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "harena/mem/budget.h"
#include "harena/pb/arena/block_hooks.h"
#include "harena/pb/arena/string_buffers.h"
#include "harena/scope/histogram.h"
#include "harena/scope/mode.h"

namespace harena::prometheus {
namespace {

using ::prometheus::ClientMetric;
using ::prometheus::MetricFamily;
using ::prometheus::MetricType;

// The values of one metric and one subject.
class Values {
 public:
  Values(MetricFamily& family, const std::vector<ClientMetric::Label>& common)
      : family_(family), common_(common) {}

  template <typename Number>
  void Add(Number value, std::initializer_list<ClientMetric::Label> further = {}) {
    ClientMetric& metric = New(further);
    (family_.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) =
        static_cast<double>(value);
  }

  // A histogram and the sum of what it counts, in bytes, nanoseconds or blocks.
  void Add(const BytesHistogram& counts, uint64_t bytes_sum) {
    AddHistogram(counts.counts, static_cast<double>(bytes_sum), [](size_t bucket) {
      return static_cast<double>(BytesHistogram::BytesMax(bucket));
    });
  }
  void Add(const DurationHistogram& counts, uint64_t nanos_sum) {
    AddHistogram(counts.counts, static_cast<double>(nanos_sum) / 1e9,
                 &DurationHistogram::SecondsMax);
  }
  void Add(const BlocksHistogram& counts, uint64_t blocks_sum) {
    AddHistogram(counts.counts, static_cast<double>(blocks_sum), [](size_t bucket) {
      return static_cast<double>(BlocksHistogram::BlocksMax(bucket));
    });
  }

 private:
  void AddHistogram(std::span<const uint64_t> counts, double sum, double (*bound)(size_t bucket)) {
    ClientMetric::Histogram& histogram = New({}).histogram;
    for (size_t i = 0; i < counts.size(); ++i) {
      histogram.sample_count += counts[i];
      const double upper_bound =
          i + 1 < counts.size() ? bound(i) : std::numeric_limits<double>::infinity();
      histogram.bucket.push_back(
          {.cumulative_count = histogram.sample_count, .upper_bound = upper_bound});
    }
    histogram.sample_sum = sum;
  }

  ClientMetric& New(std::initializer_list<ClientMetric::Label> further) {
    ClientMetric& metric = family_.metric.emplace_back();
    metric.label = common_;
    metric.label.insert(metric.label.end(), further);
    return metric;
  }

  MetricFamily& family_;
  const std::vector<ClientMetric::Label>& common_;
};

// One metric: how it is called, and what it is in one subject.
template <typename Subject>
struct Metric {
  const char* name;
  MetricType type;
  const char* help;
  void (*collect)(const Subject& subject, Values& values);
};

using M = ServedMethod;
using P = Pool;
using B = Budget;
constexpr MetricType kCounter = MetricType::Counter;
constexpr MetricType kGauge = MetricType::Gauge;

// A limit as Prometheus has it: +Inf for none.
double LimitOf(size_t bytes_max) noexcept {
  return bytes_max == kUnlimitedBytes ? std::numeric_limits<double>::infinity()
                                      : static_cast<double>(bytes_max);
}

const Metric<M> kMethodMetrics[] = {
    {"harena_requests_total", kCounter, "Requests that began.",
     [](const M& m, Values& v) { v.Add(m.stats.requests); }},
    {"harena_malformed_requests_total", kCounter, "Requests that were no message of their type.",
     [](const M& m, Values& v) { v.Add(m.stats.malformed); }},
    {"harena_refused_requests_total", kCounter,
     "Requests that a limit refused, by its name; `memory` stands for the system itself.",
     [](const M& m, Values& v) {
       const pb::RefusalCounts& by = m.stats.refused_by;
       v.Add(by.request_bytes_max, {{"limit", kRequestBytesMax}});
       v.Add(by.process_bytes_max, {{"limit", kProcessBytesMax}});
       v.Add(by.decoded_ratio_max, {{"limit", kDecodedRatioMax}});
       v.Add(by.depth_max, {{"limit", kDepthMax}});
       v.Add(by.memory, {{"limit", Refusal().limit}});
     }},
    {"harena_request_wire_bytes_total", kCounter,
     "Bytes of the requests as they came, where Harena is told them.",
     [](const M& m, Values& v) {
       // What nobody knows is not zero.
       const ScopePoolStats& scopes = m.stats.scopes;
       if (scopes.wire_bytes_known()) v.Add(scopes.wire_bytes_sum);
     }},
    {"harena_parse_seconds", MetricType::Histogram,
     "How long a request was decoded, of one request in 64.",
     [](const M& m, Values& v) {
       v.Add(m.stats.scopes.parse_times, m.stats.scopes.parse_nanos_sum);
     }},
    {"harena_serialize_seconds", MetricType::Histogram,
     "How long a response was encoded by the codec, of one request in 64.",
     [](const M& m, Values& v) {
       v.Add(m.stats.scopes.serialize_times, m.stats.scopes.serialize_nanos_sum);
     }},
    {"harena_heap_fallbacks_total", kCounter,
     "Requests that were served from the heap although their mode says otherwise, by why.",
     [](const M& m, Values& v) {
       v.Add(m.stats.fallbacks.no_codec, {{"reason", "no_codec"}});
       v.Add(m.stats.fallbacks.not_reusable, {{"reason", "not_reusable"}});
       v.Add(m.stats.fallbacks.no_scope, {{"reason", "no_scope"}});
     }},
    {"harena_method_mode", kGauge,
     "Always 1: the labels say which mode was chosen and which one is served.",
     [](const M& m, Values& v) {
       v.Add(1, {{"mode", std::string(ToString(m.stats.mode))},
                 {"served", std::string(ToString(m.stats.served))}});
     }},
    {"harena_request_bytes_max", kGauge,
     "The most bytes that one request may take; +Inf without a limit.",
     [](const M& m, Values& v) { v.Add(LimitOf(m.request_bytes_max)); }},
    {"harena_scope_used_bytes", MetricType::Histogram, "Bytes of its scope that a request used.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.bytes, m.stats.scopes.bytes_sum); }},
    {"harena_scope_used_bytes_max", kGauge, "The most of it that one request used so far.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.bytes_max); }},
    {"harena_scope_used_bytes_recent", kGauge,
     "What so many percent of the recent requests stayed within; an estimate.",
     [](const M& m, Values& v) {
       v.Add(m.stats.scopes.bytes_p50, {{"percentile", "50"}});
       v.Add(m.stats.scopes.bytes_p90, {{"percentile", "90"}});
       v.Add(m.stats.scopes.bytes_p99, {{"percentile", "99"}});
     }},
    {"harena_scope_block_bytes_total", kCounter, "Bytes of the blocks that requests took for it.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.block_bytes_sum); }},
    {"harena_scope_blocks", MetricType::Histogram,
     "Blocks of page pools that a request took for it.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.blocks, m.stats.scopes.blocks_sum); }},
    {"harena_scope_overflows_total", kCounter, "Requests that needed more than their first block.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.overflows); }},
    {"harena_scope_outside_bytes_total", kCounter,
     "What budgets counted beside blocks: string buffers that protobuf keeps on the heap.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.outside_bytes_sum); }},
    {"harena_first_block_bytes", kGauge,
     "The size of the next request's first block, as learned or as set.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.first_block_bytes); }},
    {"harena_scopes_live", kGauge, "Scopes that have not ended.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.scopes_live()); }},
    {"harena_scopes_sampled_total", kCounter, "Scopes whose memory went into quarantine.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.scopes_sampled); }},
    {"harena_scopes_moved_total", kCounter,
     "Scopes that ended on another thread than they began on, and their blocks with them.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.scopes_moved); }},
    {"harena_scopes_detached_total", kCounter, "Scopes that were handed on by Detach().",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.scopes_detached); }},
    {"harena_scopes_detached_live", kGauge, "Of those, the ones that have not ended.",
     [](const M& m, Values& v) { v.Add(m.stats.scopes.scopes_detached_live); }},
    {"harena_scopes_detached_oldest_seconds", kGauge,
     "How long ago the oldest of these was detached.",
     [](const M& m, Values& v) {
       v.Add(static_cast<double>(m.stats.scopes.oldest_detached_ms) / 1000);
     }},
    {"harena_reuse_instances_built_total", kCounter,
     "Pairs of messages made anew in mode `reuse`, because none that fits was idle.",
     [](const M& m, Values& v) { v.Add(m.stats.kept.instances_built); }},
    {"harena_reuse_instances_dropped_total", kCounter,
     "Pairs of messages that were not kept: grown too large, too many or too long idle, or "
     "refused memory.",
     [](const M& m, Values& v) { v.Add(m.stats.kept.instances_dropped); }},
    {"harena_reuse_instances_idle", kGauge, "Pairs of messages that wait for a request.",
     [](const M& m, Values& v) { v.Add(m.stats.kept.instances_idle); }},
    {"harena_reuse_idle_bytes", kGauge, "Bytes that these hold.",
     [](const M& m, Values& v) { v.Add(m.stats.kept.bytes_idle); }},
};

const Metric<const B*> kProcessMetrics[] = {
    {"harena_process_used_bytes", kGauge,
     "Bytes that all requests of the process hold now, as its budget counts them.",
     [](const B* const& b, Values& v) { v.Add(b->bytes_used()); }},
    {"harena_process_bytes_max", kGauge,
     "The most that they may hold together; +Inf without a limit.",
     [](const B* const& b, Values& v) { v.Add(LimitOf(b->bytes_max())); }},
    {"harena_process_refusals_total", kCounter, "Times that the process's budget had no room.",
     [](const B* const& b, Values& v) { v.Add(b->refusals()); }},
    {"harena_process_system_refusals_total", kCounter,
     "Times that a message's arena got no memory although its request's budget had room.",
     [](const B* const&, Values& v) { v.Add(pb::SystemRefusals()); }},
    {"harena_process_unframed_overruns_total", kCounter,
     "Blocks taken over the process's limit, because a refusal would have met code that expects "
     "none.",
     [](const B* const&, Values& v) { v.Add(pb::UnframedOverruns()); }},
    {"harena_process_string_bodies_bytes", kGauge,
     "Bytes of string buffers that wait for their next message, in lists that all threads share.",
     [](const B* const&, Values& v) { v.Add(pb::GetStringBufferStats().bytes_shared); }},
};

const Metric<P> kPoolMetrics[] = {
    {"harena_pool_bytes", kGauge,
     "What is mapped: `in_use`, `thread_cached` and `retained` in memory, `cold` as addresses "
     "only.",
     [](const P& p, Values& v) {
       v.Add(p.stats.bytes_in_use, {{"state", "in_use"}});
       v.Add(p.stats.bytes_thread_cached, {{"state", "thread_cached"}});
       v.Add(p.stats.bytes_retained, {{"state", "retained"}});
       v.Add(p.stats.bytes_cold, {{"state", "cold"}});
     }},
    {"harena_pool_huge_advised_bytes", kGauge,
     "Bytes mapped for which the system was asked for huge pages and agreed.",
     [](const P& p, Values& v) { v.Add(p.stats.bytes_huge_advised); }},
    {"harena_pool_blocks_allocated_total", kCounter, "Blocks handed out.",
     [](const P& p, Values& v) { v.Add(p.stats.blocks_allocated); }},
    {"harena_pool_blocks_freed_total", kCounter, "Blocks that came back.",
     [](const P& p, Values& v) { v.Add(p.stats.blocks_freed); }},
    {"harena_pool_blocks_moved_total", kCounter,
     "Of these, those of scopes that ended on another thread than they began on.",
     [](const P& p, Values& v) { v.Add(p.stats.blocks_moved); }},
    {"harena_pool_decommitted_bytes_total", kCounter,
     "Bytes given back to the system, by decay or by the bound of what is kept.",
     [](const P& p, Values& v) { v.Add(p.stats.bytes_decommitted); }},
    {"harena_pool_regions_mapped_total", kCounter, "Times the system gave memory.",
     [](const P& p, Values& v) { v.Add(p.stats.regions_mapped); }},
    {"harena_pool_regions_unmapped_total", kCounter, "Times a region went back to it whole.",
     [](const P& p, Values& v) { v.Add(p.stats.regions_unmapped); }},
    {"harena_pool_refusals_total", kCounter, "Times the system had no memory.",
     [](const P& p, Values& v) { v.Add(p.stats.refusals); }},
    {"harena_pool_retained_bytes_max", kGauge,
     "The most free bytes that are kept in the central list.",
     [](const P& p, Values& v) { v.Add(p.retention.retained_bytes_max); }},
    {"harena_pool_decay_after_seconds", kGauge, "How long free memory is kept; 0 for ever.",
     [](const P& p, Values& v) {
       v.Add(std::chrono::duration<double>(p.retention.decay_after).count());
     }},
    {"harena_pool_quarantine_bytes", kGauge, "Addresses in quarantine, without memory behind them.",
     [](const P& p, Values& v) { v.Add(p.quarantine.bytes_held); }},
    {"harena_pool_quarantine_blocks_total", kCounter, "Blocks that were put into quarantine.",
     [](const P& p, Values& v) { v.Add(p.quarantine.blocks_entered); }},
    {"harena_pool_quarantine_refusals_total", kCounter,
     "Blocks for sampled scopes that the system refused.",
     [](const P& p, Values& v) { v.Add(p.quarantine.refusals); }},
};

// Adds a family to `families` for each metric that has a value.
template <typename Subject, size_t kCount>
void AddFamilies(const Metric<Subject> (&metrics)[kCount],
                 const std::vector<Labelled<Subject>>& subjects,
                 std::vector<MetricFamily>& families) {
  for (const Metric<Subject>& metric : metrics) {
    MetricFamily family{
        .name = metric.name, .help = metric.help, .type = metric.type, .metric = {}};
    for (const auto& [labels, subject] : subjects) {
      Values values(family, labels);
      metric.collect(subject, values);
    }
    if (!family.metric.empty()) families.push_back(std::move(family));
  }
}

}  // namespace

std::vector<MetricFamily> FamiliesOf(const std::vector<Labelled<ServedMethod>>& methods,
                                     const std::vector<Labelled<Pool>>& pools) {
  std::vector<MetricFamily> families;
  AddFamilies(kMethodMetrics, methods, families);
  AddFamilies<const B*>(kProcessMetrics, {{.labels = {}, .subject = &ProcessBudget()}}, families);
  AddFamilies(kPoolMetrics, pools, families);
  return families;
}

}  // namespace harena::prometheus
