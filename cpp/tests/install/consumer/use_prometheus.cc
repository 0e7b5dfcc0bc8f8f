// Links and runs against harena::prometheus.
#include <harena/exporters/prometheus/collector.h>

int main() {
  for (const auto& family : harena::prometheus::Collector().Collect()) {
    if (family.name == "harena_process_used_bytes") return 0;
  }
  return 1;
}
