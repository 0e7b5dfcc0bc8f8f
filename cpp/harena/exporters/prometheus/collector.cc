#include "harena/exporters/prometheus/collector.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "harena/exporters/prometheus/internal/metrics.h"
#include "harena/guard/quarantine.h"
#include "harena/pb/admin/served_methods.h"

namespace harena::prometheus {
namespace {

struct Snapshot {
  std::vector<Labelled<ServedMethod>> methods;
  std::vector<Labelled<Pool>> pools;
};

Labelled<Pool> Look(const PagePool& pool) {
  const bool is_default = &pool == &PagePool::Default();
  return {.labels = {{"pool", is_default ? "default" : std::to_string(pool.index())}},
          .subject = {.stats = pool.stats(),
                      .retention = pool.retention(),
                      .quarantine = guard::QuarantineStatsOf(pool)}};
}

Snapshot Look() {
  Snapshot snapshot;
  std::map<std::pair<std::string, std::string>, int> servers;  // so that no labels are there twice
  std::set<PagePool*> pools;
  pb::ForEachServedMethods([&](const pb::ServedMethods& served) {
    const std::string framework(served.framework());
    for (const auto& method : served.methods()) {
      const int server = ++servers[{framework, method->name()}];
      const Options options = method->scopes().options();
      snapshot.methods.push_back(
          {.labels = {{"framework", framework},
                      {"method", method->name()},
                      {"server", std::to_string(server)}},
           .subject = {.stats = method->stats(), .request_bytes_max = options.request_bytes_max}});
      // Here, where no server can end, and none of their pools with it.
      if (pools.insert(&options.pool()).second) snapshot.pools.push_back(Look(options.pool()));
    }
  });
  if (pools.insert(&PagePool::Default()).second)
    snapshot.pools.push_back(Look(PagePool::Default()));
  return snapshot;
}

}  // namespace

std::vector<::prometheus::MetricFamily> Collector::Collect() const {
  const Snapshot snapshot = Look();
  std::vector<::prometheus::MetricFamily> families;
  AddMethods(snapshot.methods, families);
  AddProcess(families);
  AddPools(snapshot.pools, families);
  return families;
}

}  // namespace harena::prometheus
