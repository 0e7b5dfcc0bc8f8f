// What the lists of metrics are written with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include "harena/scope/histogram.h"

namespace harena::prometheus {

using ::prometheus::ClientMetric;
using ::prometheus::MetricFamily;
using ::prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

class Values;

/// One metric of a list: how it is called, and what it is in one subject of type `Subject`.
template <typename Subject>
struct Metric {
  const char* name;
  MetricType type;
  const char* help;
  void (*collect)(const Subject& subject, Values& values);
};

/// The values of one metric and one subject.
class Values {
 public:
  Values(MetricFamily& family, const Labels& common) : family_(family), common_(common) {}

  template <typename Number>
  void Add(Number value, std::initializer_list<ClientMetric::Label> further = {}) {
    ClientMetric& metric = New(further);
    (family_.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) =
        static_cast<double>(value);
  }
  /// A histogram and the sum of what it counts, in bytes, nanoseconds or blocks.
  void Add(const BytesHistogram& counts, uint64_t bytes_sum);
  void Add(const DurationHistogram& counts, uint64_t nanos_sum);
  void Add(const BlocksHistogram& counts, uint64_t blocks_sum);

 private:
  void AddHistogram(std::span<const uint64_t> counts, double sum, double (*bound)(size_t bucket));
  ClientMetric& New(std::initializer_list<ClientMetric::Label> further);

  MetricFamily& family_;
  const Labels& common_;
};

/// What one subject's values are labelled with.
template <typename Subject>
struct Labelled {
  Labels labels;
  Subject subject;
};

/// Adds a family to `families` for each metric that has a value.
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

}  // namespace harena::prometheus
