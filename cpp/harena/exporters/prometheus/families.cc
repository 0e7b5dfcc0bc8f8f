#include "harena/exporters/prometheus/internal/families.h"

#include <limits>

namespace harena::prometheus {

ClientMetric& Values::New(std::initializer_list<ClientMetric::Label> further) {
  ClientMetric& metric = family_.metric.emplace_back();
  metric.label = common_;
  metric.label.insert(metric.label.end(), further);
  return metric;
}

void Values::Add(const BytesHistogram& counts, uint64_t bytes_sum) {
  AddHistogram(counts.counts, static_cast<double>(bytes_sum),
               [](size_t bucket) { return static_cast<double>(BytesHistogram::BytesMax(bucket)); });
}

void Values::Add(const DurationHistogram& counts, uint64_t nanos_sum) {
  AddHistogram(counts.counts, static_cast<double>(nanos_sum) / 1e9, &DurationHistogram::SecondsMax);
}

void Values::Add(const BlocksHistogram& counts, uint64_t blocks_sum) {
  AddHistogram(counts.counts, static_cast<double>(blocks_sum), [](size_t bucket) {
    return static_cast<double>(BlocksHistogram::BlocksMax(bucket));
  });
}

void Values::AddHistogram(std::span<const uint64_t> counts, double sum,
                          double (*bound)(size_t bucket)) {
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

}  // namespace harena::prometheus
