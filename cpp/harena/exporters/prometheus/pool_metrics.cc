#include <chrono>

#include "harena/exporters/prometheus/internal/metrics.h"

namespace harena::prometheus {
namespace {

using P = Pool;
constexpr MetricType kCounter = MetricType::Counter;
constexpr MetricType kGauge = MetricType::Gauge;

const Metric<P> kMetrics[] = {
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

}  // namespace

void AddPools(const std::vector<Labelled<Pool>>& pools, std::vector<MetricFamily>& families) {
  AddFamilies(kMetrics, pools, families);
}

}  // namespace harena::prometheus
