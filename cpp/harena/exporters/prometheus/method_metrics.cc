#include "harena/exporters/prometheus/internal/metrics.h"
#include "harena/scope/mode.h"

namespace harena::prometheus {
namespace {

using M = ServedMethod;
using Method = Metric<M>;
constexpr MetricType kCounter = MetricType::Counter;
constexpr MetricType kGauge = MetricType::Gauge;

const Method kMetrics[] = {
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

}  // namespace

void AddMethods(const std::vector<Labelled<ServedMethod>>& methods,
                std::vector<MetricFamily>& families) {
  AddFamilies(kMetrics, methods, families);
}

}  // namespace harena::prometheus
