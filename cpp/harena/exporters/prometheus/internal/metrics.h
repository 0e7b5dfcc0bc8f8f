// The list of metrics, and what they are asked of.
#pragma once

#include <cstddef>
#include <vector>

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include "harena/guard/quarantine.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/call/method.h"

namespace harena::prometheus {

/// What one subject's values are labelled with.
template <typename Subject>
struct Labelled {
  std::vector<::prometheus::ClientMetric::Label> labels;
  Subject subject;
};

struct ServedMethod {
  pb::MethodStats stats;
  size_t request_bytes_max = 0;
};

struct Pool {
  PagePoolStats stats;
  PagePoolRetention retention;
  QuarantineStats quarantine;
};

/// Every metric of the methods, the process and the pools.
std::vector<::prometheus::MetricFamily> FamiliesOf(
    const std::vector<Labelled<ServedMethod>>& methods, const std::vector<Labelled<Pool>>& pools);

}  // namespace harena::prometheus
