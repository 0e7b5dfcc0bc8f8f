#include "bench/demo/operation.h"

#include <optional>
#include <stdexcept>

#if HARENA_LIVE
#include "harena/live/listener.h"
#endif
#if HARENA_METRICS
#include <prometheus/exposer.h>

#include "harena/exporters/prometheus/collector.h"
#endif
#if HARENA_CONFIG
#include "harena/config/watcher.h"
#endif

namespace harena::bench {
namespace {

[[maybe_unused]] void RefuseAbsent(const std::string& asked, const char* flag,
                                   const char* package) {
  if (asked.empty()) return;
  throw std::runtime_error(std::string(flag) + " is not in this build: install " + package +
                           " and build again");
}

}  // namespace

struct Operation::Parts {
#if HARENA_CONFIG
  std::unique_ptr<config::Watcher> settings;
#endif
#if HARENA_METRICS
  std::shared_ptr<prometheus::Collector> collector;
  std::optional<::prometheus::Exposer> exposer;
  std::string metrics_address;
#endif
#if HARENA_LIVE
  std::optional<live::Listener> page;
#endif
};

void AddOperationFlags(CLI::App& app, OperationFlags& flags) {
  app.add_option("--live", flags.live,
                 "Address of the live page, such as 127.0.0.1:9090; port 0 for any");
  app.add_option("--metrics", flags.metrics, "Address for Prometheus, such as 127.0.0.1:9100");
  app.add_option("--config", flags.config,
                 "File of settings, watched; wins over --mode and the limits given here");
}

Operation::Operation(const OperationFlags& flags) : parts_(std::make_unique<Parts>()) {
#if HARENA_CONFIG
  if (!flags.config.empty()) {
    config::Problems problems;
    parts_->settings =
        config::Watcher::Start(flags.config, {.overrides = config::FromEnvironment()}, problems);
    if (parts_->settings == nullptr) throw std::runtime_error(ToString(problems));
  }
#else
  RefuseAbsent(flags.config, "--config", "libyaml-cpp-dev");
#endif
#if HARENA_METRICS
  if (!flags.metrics.empty()) {
    parts_->collector = std::make_shared<prometheus::Collector>();
    parts_->exposer.emplace(flags.metrics, /*num_threads=*/1);
    parts_->exposer->RegisterCollectable(parts_->collector);
    parts_->metrics_address = flags.metrics.substr(0, flags.metrics.rfind(':') + 1) +
                              std::to_string(parts_->exposer->GetListeningPorts().front());
  }
#else
  RefuseAbsent(flags.metrics, "--metrics", "prometheus-cpp-dev");
#endif
#if HARENA_LIVE
  if (!flags.live.empty()) {
    parts_->page.emplace(live::ListenerOptions{.address = flags.live});
    if (const auto& problem = parts_->page->problem()) {
      throw std::runtime_error("live page: " + *problem);
    }
  }
#else
  RefuseAbsent(flags.live, "--live", "libboost-dev");
#endif
}

Operation::~Operation() = default;

std::string Operation::metrics_address() const {
#if HARENA_METRICS
  if (parts_->exposer) return parts_->metrics_address;
#endif
  return {};
}

std::string Operation::live_address() const {
#if HARENA_LIVE
  if (parts_->page) return parts_->page->address();
#endif
  return {};
}

}  // namespace harena::bench
