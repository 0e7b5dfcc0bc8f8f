// Harena's metrics for prometheus-cpp. docs/metrics.md lists them.
#pragma once

#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

namespace harena::prometheus {

/// Every metric of every server of the process and of the page pools they draw on, asked for
/// whenever it is scraped; it keeps nothing itself. One is enough for a process:
///
///   ::prometheus::Exposer exposer("127.0.0.1:9100");
///   const auto collector = std::make_shared<harena::prometheus::Collector>();
///   exposer.RegisterCollectable(collector);
///
/// Thread rule: any thread. Methods and pools are asked one after the other, so a server that
/// begins or ends meanwhile may be there in part.
class Collector final : public ::prometheus::Collectable {
 public:
  std::vector<::prometheus::MetricFamily> Collect() const override;
};

}  // namespace harena::prometheus
