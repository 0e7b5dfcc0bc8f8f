#include "harena/live/internal/status.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "harena/guard/quarantine.h"
#include "harena/live/internal/change_log.h"
#include "harena/live/internal/settings.h"
#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/admin/served_methods.h"
#include "harena/scope/histogram.h"

namespace harena::live::internal {
namespace {

// When the program's static objects were made, which is when it was started or nearly so.
const std::chrono::system_clock::time_point kStartedAt = std::chrono::system_clock::now();

Json StatusOf(const PagePool& pool) {
  const PagePoolStats stats = pool.stats();
  const QuarantineStats quarantine = guard::QuarantineStatsOf(pool);
  const PagePoolRetention retention = pool.retention();
  return {{"name", NameOf(pool)},
          {"bytes_in_use", stats.bytes_in_use},
          {"bytes_thread_cached", stats.bytes_thread_cached},
          {"bytes_retained", stats.bytes_retained},
          {"bytes_cold", stats.bytes_cold},
          {"bytes_mapped", stats.bytes_mapped},
          {"bytes_huge_advised", stats.bytes_huge_advised},
          {"retained_bytes_max", retention.retained_bytes_max == kUnlimitedBytes
                                     ? Json()
                                     : Json(retention.retained_bytes_max)},
          {"decay_after_ms", retention.decay_after.count()},
          {"blocks_allocated", stats.blocks_allocated},
          {"blocks_freed", stats.blocks_freed},
          {"blocks_moved", stats.blocks_moved},
          {"bytes_decommitted", stats.bytes_decommitted},
          {"refusals", stats.refusals},
          {"quarantine",
           {{"bytes_in_use", quarantine.bytes_in_use},
            {"bytes_held", quarantine.bytes_held},
            {"blocks_held", quarantine.blocks_held},
            {"blocks_entered", quarantine.blocks_entered},
            {"blocks_left", quarantine.blocks_left},
            {"refusals", quarantine.refusals}}}};
}

Json HistogramOf(const BytesHistogram& histogram) {
  Json buckets = Json::array();
  for (size_t i = 0; i < BytesHistogram::kBuckets; ++i) {
    const bool last = i + 1 == BytesHistogram::kBuckets;
    buckets.push_back({{"le", last ? Json() : Json(BytesHistogram::BytesMax(i))},
                       {"count", histogram.counts[i]}});
  }
  return buckets;
}

// Of the requests that were timed.
Json StepOf(const DurationHistogram& times, uint64_t nanos_sum) {
  uint64_t timed = 0;
  for (const uint64_t count : times.counts) timed += count;
  return {{"timed", timed}, {"nanos_sum", nanos_sum}};
}

Json StatusOf(const pb::Method& method, std::string_view framework) {
  const pb::MethodStats stats = method.stats();
  Json modes = Json::array();
  for (const Mode mode : kModes) {
    if (method.ServedAs(mode) == mode) modes.push_back(ToString(mode));
  }
  const ScopePoolStats& scopes = stats.scopes;
  Json status = {{"name", stats.name},
                 {"framework", framework},
                 {"mode", ToString(stats.mode)},
                 {"served", ToString(stats.served)},
                 {"modes", std::move(modes)},
                 {"settings", SettingsOf(method.scopes().options())},
                 {"requests", stats.requests},
                 {"malformed", stats.malformed},
                 {"refused", stats.refused},
                 {"refused_by",
                  {{kRequestBytesMax, stats.refused_by.request_bytes_max},
                   {kProcessBytesMax, stats.refused_by.process_bytes_max},
                   {kDecodedRatioMax, stats.refused_by.decoded_ratio_max},
                   {kDepthMax, stats.refused_by.depth_max},
                   {"memory", stats.refused_by.memory}}},
                 {"scopes",
                  {{"made", scopes.scopes_made},
                   {"ended", scopes.scopes_ended},
                   {"live", scopes.scopes_live()},
                   {"moved", scopes.scopes_moved},
                   {"detached", scopes.scopes_detached},
                   {"detached_live", scopes.scopes_detached_live},
                   {"detached_oldest_ms", scopes.oldest_detached_ms},
                   {"sampled", scopes.scopes_sampled}}},
                 {"bytes",
                  // An estimate may be above what there was.
                  {{"p50", std::min(scopes.bytes_p50, scopes.bytes_max)},
                   {"p90", std::min(scopes.bytes_p90, scopes.bytes_max)},
                   {"p99", std::min(scopes.bytes_p99, scopes.bytes_max)},
                   {"max", scopes.bytes_max},
                   {"sum", scopes.bytes_sum},
                   {"histogram", HistogramOf(scopes.bytes)}}},
                 {"blocks", scopes.blocks_sum},
                 {"parse", StepOf(scopes.parse_times, scopes.parse_nanos_sum)},
                 {"serialize", StepOf(scopes.serialize_times, scopes.serialize_nanos_sum)},
                 {"heap_fallbacks",
                  {{"no_codec", stats.fallbacks.no_codec},
                   {"not_reusable", stats.fallbacks.not_reusable},
                   {"no_scope", stats.fallbacks.no_scope}}},
                 {"first_block_bytes", scopes.first_block_bytes},
                 {"kept",
                  {{"instances_idle", stats.kept.instances_idle},
                   {"bytes_idle", stats.kept.bytes_idle},
                   {"instances_built", stats.kept.instances_built},
                   {"instances_dropped", stats.kept.instances_dropped}}}};
  if (scopes.wire_bytes_known()) status["wire_bytes_sum"] = scopes.wire_bytes_sum;
  return status;
}

double Rate(uint64_t before, uint64_t after, double seconds) {
  // Where a server has ended it took its counts along.
  return after < before || seconds <= 0 ? 0 : static_cast<double>(after - before) / seconds;
}

}  // namespace

Json StatusNow() {
  Json methods = Json::array();
  Json pools = Json::array();
  pb::ForEachServedMethod([&](const auto& method, const pb::ServedMethods& served) {
    methods.push_back(StatusOf(*method, served.framework()));
  });
  pb::ForEachServedPool([&](const PagePool& pool) { pools.push_back(StatusOf(pool)); });
  const Budget& process = ProcessBudget();
  return {
      {"harena", HARENA_VERSION},
      {"language", "c++"},
      {"pid", getpid()},
      {"started_at", Rfc3339(kStartedAt)},
      {"now", Rfc3339(std::chrono::system_clock::now())},
      {"process",
       {{"bytes_max", process.bytes_max() == kUnlimitedBytes ? Json() : Json(process.bytes_max())},
        {"bytes_used", process.bytes_used()},
        {"refusals", process.refusals()}}},
      {"methods", std::move(methods)},
      {"pools", std::move(pools)}};
}

void Timeline::Tick() {
  const auto now = std::chrono::steady_clock::now();
  const auto unix_now = std::chrono::system_clock::now().time_since_epoch();
  Sample sample;
  sample.at_ms = std::chrono::duration_cast<std::chrono::milliseconds>(unix_now).count();
  sample.process_bytes_used = ProcessBudget().bytes_used();
  uint64_t requests = 0, refused = 0;
  pb::ForEachServedMethod([&](const auto& method, const pb::ServedMethods&) {
    requests += method->requests();
    refused += method->refused_by().total();
  });
  pb::ForEachServedPool([&](const PagePool& pool) {
    const PagePoolStats stats = pool.stats();
    sample.pool_bytes_in_use += stats.bytes_in_use;
    sample.pool_bytes_thread_cached += stats.bytes_thread_cached;
    sample.pool_bytes_retained += stats.bytes_retained;
    sample.pool_bytes_cold += stats.bytes_cold;
  });
  if (last_ != std::chrono::steady_clock::time_point{}) {
    const double seconds = std::chrono::duration<double>(now - last_).count();
    sample.requests_per_s = Rate(requests_, requests, seconds);
    sample.refused_per_s = Rate(refused_, refused, seconds);
  }
  last_ = now;
  requests_ = requests;
  refused_ = refused;
  std::lock_guard lock(mutex_);
  samples_.push_back(sample);
  if (samples_.size() > kSamplesMax) samples_.pop_front();
}

Json Timeline::Since(int64_t after_ms) const {
  Json samples = Json::array();
  std::lock_guard lock(mutex_);
  for (const Sample& sample : samples_) {
    if (sample.at_ms > after_ms) samples.push_back(sample);
  }
  return {{"interval_ms", kInterval.count()}, {"samples", std::move(samples)}};
}

}  // namespace harena::live::internal
