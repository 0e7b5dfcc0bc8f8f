// The rows that nothing with messages can go below.
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/messages/runner.h"
#include "bench/messages/wire_scan.h"

namespace harena::bench {
namespace {

class CopyRunner final : public Runner {
 public:
  Phases Run(std::string_view wire) override {
    // Once per size record, as with the buffer that responses are written to.
    if (request_.size() < wire.size()) {
      request_.resize(wire.size());
      response_.resize(wire.size());
    }
    Phases phases;
    Stopwatch watch;
    std::memcpy(request_.data(), wire.data(), wire.size());
    phases.parse = watch.Lap();
    std::memcpy(response_.data(), request_.data(), wire.size());
    phases.serialize = watch.Lap();
    bytes_ = wire.size();
    return phases;
  }
  void Fill() override { throw std::logic_error("bound_memcpy has no messages to fill"); }
  std::string_view response() const override { return {response_.data(), bytes_}; }

 private:
  std::string request_, response_;
  size_t bytes_ = 0;
};

class ScanRunner final : public Runner {
 public:
  explicit ScanRunner(const WireScan& scan) : scan_(scan) {}

  Phases Run(std::string_view wire) override {
    Phases phases;
    Stopwatch watch;
    if (!scan_.Accepts(wire)) throw std::runtime_error("the workload's request does not parse");
    phases.parse = watch.Lap();
    return phases;
  }
  void Fill() override { throw std::logic_error("bound_scan has no messages to fill"); }
  std::string_view response() const override { return {}; }

 private:
  const WireScan& scan_;
};

class CopyFactory final : public RunnerFactory {
 public:
  std::unique_ptr<Runner> Make() override { return std::make_unique<CopyRunner>(); }
};

class ScanFactory final : public RunnerFactory {
 public:
  explicit ScanFactory(const google::protobuf::Descriptor* type) : scan_(type) {}
  std::unique_ptr<Runner> Make() override { return std::make_unique<ScanRunner>(scan_); }

 private:
  const WireScan scan_;
};

}  // namespace

std::vector<std::string> BoundModes() { return {"bound_memcpy", "bound_scan"}; }

std::unique_ptr<RunnerFactory> MakeBoundFactory(std::string_view mode, const Workload& workload) {
  if (mode == "bound_memcpy") return std::make_unique<CopyFactory>();
  if (mode != "bound_scan") return nullptr;
  return VisitMethod(workload.method, [](auto method) {
    return std::make_unique<ScanFactory>(decltype(method)::Request::descriptor());
  });
}

}  // namespace harena::bench
