#include "harena/exporters/prometheus/collector.h"

#include <map>
#include <string>
#include <utility>

#include "harena/exporters/prometheus/internal/metrics.h"
#include "harena/guard/quarantine.h"
#include "harena/pb/admin/served_methods.h"

namespace harena::prometheus {

std::vector<::prometheus::MetricFamily> Collector::Collect() const {
  std::vector<Labelled<ServedMethod>> methods;
  std::map<std::pair<std::string, std::string>, int> servers;  // so that no labels are there twice
  pb::ForEachServedMethod([&](const auto& method, const pb::ServedMethods& served) {
    const std::string framework(served.framework());
    const int server = ++servers[{framework, method->name()}];
    methods.push_back(
        {.labels = {{"framework", framework},
                    {"method", method->name()},
                    {"server", std::to_string(server)}},
         .subject = {.stats = method->stats(),
                     .request_bytes_max = method->scopes().options().request_bytes_max}});
  });
  std::vector<Labelled<Pool>> pools;
  pb::ForEachServedPool([&](const PagePool& pool) {
    const bool is_default = &pool == &PagePool::Default();
    pools.push_back({.labels = {{"pool", is_default ? "default" : std::to_string(pool.index())}},
                     .subject = {.stats = pool.stats(),
                                 .retention = pool.retention(),
                                 .quarantine = guard::QuarantineStatsOf(pool)}});
  });
  return FamiliesOf(methods, pools);
}

}  // namespace harena::prometheus
