#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace harena::bench {

/// How a demo server is seen and set while it runs. Empty: not at all.
struct OperationFlags {
  std::string live;     ///< Address of the live page.
  std::string metrics;  ///< Address for Prometheus.
  std::string config;   ///< File of settings.
};

void AddOperationFlags(CLI::App& app, OperationFlags& flags);

/// The live page, the exporter and the watched settings of a server, from its making to its end.
/// Thread rule: one thread. Lifetime rule: made after the services and before the server listens,
///   so that no request is served with other settings.
class Operation {
 public:
  /// Throws std::runtime_error where something was asked for that cannot be, and says why.
  explicit Operation(const OperationFlags& flags);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// With the port in use; empty without a live page.
  std::string live_address() const;
  /// Likewise; empty where Prometheus is not answered.
  const std::string& metrics_address() const { return metrics_address_; }

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::string metrics_address_;
};

}  // namespace harena::bench
