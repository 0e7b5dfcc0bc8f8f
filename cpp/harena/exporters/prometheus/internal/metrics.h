// The lists of metrics, each with a function that adds their families.
#pragma once

#include <string>
#include <vector>

#include "harena/exporters/prometheus/internal/families.h"
#include "harena/guard/quarantine.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/call/method.h"

namespace harena::prometheus {

struct ServedMethod {
  pb::MethodStats stats;
  size_t request_bytes_max = 0;
};

struct Pool {
  PagePoolStats stats;
  PagePoolRetention retention;
  QuarantineStats quarantine;
};

void AddMethods(const std::vector<Labelled<ServedMethod>>& methods,
                std::vector<MetricFamily>& families);
void AddProcess(std::vector<MetricFamily>& families);
void AddPools(const std::vector<Labelled<Pool>>& pools, std::vector<MetricFamily>& families);

/// A limit as Prometheus has it: +Inf for none.
double LimitOf(size_t bytes_max) noexcept;

}  // namespace harena::prometheus
