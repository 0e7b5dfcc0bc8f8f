// The rows that nothing with messages can go below.
#include "bench/messages/bounds.h"

#include <cstring>
#include <stdexcept>

#include "bench/messages/wire_scan.h"

namespace harena::bench {
namespace {

class CopyRunner final : public Runner {
 public:
  explicit CopyRunner(const Traffic& traffic) : requests_(traffic.requests()) {}

  Phases Run(size_t number) override {
    const std::string& wire = requests_[number];
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
  std::string Answer(size_t) override {
    throw std::logic_error("bound_memcpy has no messages to answer with");
  }
  std::string_view response() const override { return {response_.data(), bytes_}; }

 private:
  const std::vector<std::string>& requests_;
  std::string request_, response_;
  size_t bytes_ = 0;
};

class ScanRunner final : public Runner {
 public:
  ScanRunner(const Traffic& traffic, const WireScan& scan)
      : requests_(traffic.requests()), scan_(scan) {}

  Phases Run(size_t number) override {
    Phases phases;
    Stopwatch watch;
    if (!scan_.Accepts(requests_[number])) {
      throw std::runtime_error("request " + std::to_string(number) + " does not parse");
    }
    phases.parse = watch.Lap();
    return phases;
  }
  void Fill() override { throw std::logic_error("bound_scan has no messages to fill"); }
  std::string Answer(size_t) override {
    throw std::logic_error("bound_scan has no messages to answer with");
  }
  std::string_view response() const override { return {}; }

 private:
  const std::vector<std::string>& requests_;
  const WireScan& scan_;
};

class CopyFactory final : public RunnerFactory {
 public:
  explicit CopyFactory(const Traffic& traffic) : traffic_(traffic) {}
  std::unique_ptr<Runner> Make() override { return std::make_unique<CopyRunner>(traffic_); }

 private:
  const Traffic& traffic_;
};

class ScanFactory final : public RunnerFactory {
 public:
  ScanFactory(const Traffic& traffic, const google::protobuf::Descriptor* type)
      : traffic_(traffic), scan_(type) {}
  std::unique_ptr<Runner> Make() override { return std::make_unique<ScanRunner>(traffic_, scan_); }

 private:
  const Traffic& traffic_;
  const WireScan scan_;
};

}  // namespace

std::vector<std::string> BoundModes() { return {"bound_memcpy", "bound_scan"}; }

std::unique_ptr<RunnerFactory> MakeBoundFactory(std::string_view mode, const Traffic& traffic,
                                                const google::protobuf::Descriptor* request) {
  if (mode == "bound_memcpy") return std::make_unique<CopyFactory>(traffic);
  if (mode == "bound_scan") return std::make_unique<ScanFactory>(traffic, request);
  return nullptr;
}

}  // namespace harena::bench
