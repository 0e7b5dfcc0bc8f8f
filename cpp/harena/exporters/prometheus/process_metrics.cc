#include <limits>

#include "harena/exporters/prometheus/internal/metrics.h"
#include "harena/mem/budget.h"
#include "harena/pb/arena/block_hooks.h"
#include "harena/pb/arena/string_buffers.h"

namespace harena::prometheus {
namespace {

using B = Budget;

const Metric<const B*> kMetrics[] = {
    {"harena_process_used_bytes", MetricType::Gauge,
     "Bytes that all requests of the process hold now, as its budget counts them.",
     [](const B* const& b, Values& v) { v.Add(b->bytes_used()); }},
    {"harena_process_bytes_max", MetricType::Gauge,
     "The most that they may hold together; +Inf without a limit.",
     [](const B* const& b, Values& v) { v.Add(LimitOf(b->bytes_max())); }},
    {"harena_process_refusals_total", MetricType::Counter,
     "Times that the process's budget had no room.",
     [](const B* const& b, Values& v) { v.Add(b->refusals()); }},
    {"harena_process_system_refusals_total", MetricType::Counter,
     "Times that a message's arena got no memory although its request's budget had room.",
     [](const B* const&, Values& v) { v.Add(pb::SystemRefusals()); }},
    {"harena_process_unframed_overruns_total", MetricType::Counter,
     "Blocks taken over the process's limit, because a refusal would have met code that expects "
     "none.",
     [](const B* const&, Values& v) { v.Add(pb::UnframedOverruns()); }},
    {"harena_process_string_bodies_bytes", MetricType::Gauge,
     "Bytes of string buffers that wait for their next message, in lists that all threads share.",
     [](const B* const&, Values& v) { v.Add(pb::GetStringBufferStats().bytes_shared); }},
};

}  // namespace

double LimitOf(size_t bytes_max) noexcept {
  return bytes_max == kUnlimitedBytes ? std::numeric_limits<double>::infinity()
                                      : static_cast<double>(bytes_max);
}

void AddProcess(std::vector<MetricFamily>& families) {
  AddFamilies<const B*>(kMetrics, {{.labels = {}, .subject = &ProcessBudget()}}, families);
}

}  // namespace harena::prometheus
