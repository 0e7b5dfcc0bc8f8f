#include "harena/exporters/prometheus/internal/families.h"

#include <limits>

namespace harena::prometheus {

ClientMetric& Values::New(std::initializer_list<ClientMetric::Label> further) {
  ClientMetric& metric = family_.metric.emplace_back();
  metric.label = common_;
  metric.label.insert(metric.label.end(), further);
  return metric;
}

void Values::Add(const BytesHistogram& counts, uint64_t sum) {
  ClientMetric::Histogram& histogram = New({}).histogram;
  for (size_t i = 0; i < BytesHistogram::kBuckets; ++i) {
    histogram.sample_count += counts.counts[i];
    const double bound = i + 1 < BytesHistogram::kBuckets
                             ? static_cast<double>(BytesHistogram::BytesMax(i))
                             : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({.cumulative_count = histogram.sample_count, .upper_bound = bound});
  }
  histogram.sample_sum = static_cast<double>(sum);
}

}  // namespace harena::prometheus
