#include "bench/demo/modes.h"

#include <optional>
#include <stdexcept>

#include "bench/workloads/workloads.h"
#include "harena/bench/v1/demo.harena.grpc.h"
#include "harena/scope/mode.h"

namespace harena::bench {
namespace {

class HeapSeam final : public ModeSeam {
 public:
  explicit HeapSeam(v1::DemoService::CallbackService& service) : service_(service) {}
  ::grpc::Service* service() override { return &service_; }

 private:
  v1::DemoService::CallbackService& service_;
};

class ScopedSeam final : public ModeSeam {
 public:
  ScopedSeam(v1::DemoService::CallbackService& service, const grpc::ServerOptions& options)
      : scoped_(service, options) {}
  ::grpc::Service* service() override { return scoped_.service(); }
  std::vector<grpc::MethodStats> stats() const override { return scoped_.stats(); }

 private:
  harena::grpc::Server scoped_;
};

// Not the codec's types in the other modes: the rows of those are for messages as protoc alone
// writes them.
bool IsOffered(Mode mode) { return (mode == Mode::kCodec) == kTypesCarryCodec; }

}  // namespace

std::vector<std::string> ModeNames() {
  std::vector<std::string> names;
  for (const Mode mode : kModes) {
    if (IsOffered(mode)) names.emplace_back(ToString(mode));
  }
  return names;
}

std::unique_ptr<ModeSeam> MakeModeSeam(std::string_view name,
                                       v1::DemoService::CallbackService& service,
                                       const grpc::ServerOptions& options) {
  const std::optional<Mode> mode = ParseMode(name);
  if (!mode || !IsOffered(*mode)) throw std::invalid_argument("no mode named " + std::string(name));
  if (*mode == Mode::kHeap) return std::make_unique<HeapSeam>(service);
  grpc::ServerOptions chosen = options;
  chosen.defaults.mode = *mode;
  if (const auto wrong = chosen.defaults.Validate()) throw std::invalid_argument(*wrong);
  return std::make_unique<ScopedSeam>(service, chosen);
}

}  // namespace harena::bench
