#include "bench/messages/runner.h"

#include <stdexcept>

#include "bench/messages/request_messages.h"

namespace harena::bench {
namespace {

[[noreturn]] void Malformed() { throw std::runtime_error("the workload's request does not parse"); }

template <typename Method, typename Messages>
class TypedRunner final : public Runner {
 public:
  TypedRunner(typename Messages::Shared& shared, const Workload& workload) : messages_(shared) {
    if (!source_.ParseFromString(workload.requests.front())) Malformed();
  }

  Phases Run(std::string_view wire) override {
    Phases phases;
    Stopwatch watch;
    messages_.Begin();
    if (!messages_.Parse(wire)) {
      messages_.End();
      Malformed();
    }
    phases.parse = watch.Lap();
    Method::Handle(*messages_.request, messages_.response);
    phases.build = watch.Lap();
    Serialize();
    phases.serialize = watch.Lap();
    messages_.End();
    phases.destroy = watch.Lap();
    return phases;
  }

  void Fill() override {
    messages_.Begin();
    messages_.Fill(source_);
    Method::Handle(*messages_.request, messages_.response);
    messages_.End();
  }

  std::string_view response() const override { return {buffer_.data(), bytes_}; }

 private:
  void Serialize() {
    bytes_ = messages_.response->ByteSizeLong();
    // Once per size record: the buffer belongs to the transport, not to the message's memory.
    if (buffer_.size() < bytes_) buffer_.resize(bytes_);
    static_cast<void>(messages_.response->SerializeWithCachedSizesToArray(
        reinterpret_cast<uint8_t*>(buffer_.data())));
  }

  typename Method::Request source_;
  Messages messages_;
  std::string buffer_;
  size_t bytes_ = 0;
};

template <typename Method, typename Messages>
class TypedFactory final : public RunnerFactory {
 public:
  explicit TypedFactory(const Workload& workload) : workload_(workload) {}
  std::unique_ptr<Runner> Make() override {
    return std::make_unique<TypedRunner<Method, Messages>>(shared_, workload_);
  }

 private:
  const Workload& workload_;
  typename Messages::Shared shared_;
};

// A mode's name and how to make its runners for one method.
template <typename Method>
struct ModeOf {
  std::string_view name;
  std::unique_ptr<RunnerFactory> (*make)(const Workload& workload);
};

template <typename Method, typename Messages>
constexpr ModeOf<Method> Named(std::string_view name) {
  return {name, [](const Workload& workload) -> std::unique_ptr<RunnerFactory> {
            return std::make_unique<TypedFactory<Method, Messages>>(workload);
          }};
}

template <typename Method>
std::vector<ModeOf<Method>> ModesOf() {
  if constexpr (kTypesCarryCodec) {
    return {Named<Method, CodecMessages<Method>>("codec")};
  } else {
    return {Named<Method, HeapMessages<Method>>("heap"),
            Named<Method, StockArenaMessages<Method>>("arena"),
            Named<Method, PagesMessages<Method>>("pages"),
            Named<Method, ReuseMessages<Method>>("reuse"),
            Named<Method, ClearedMessages<Method>>("heap_clear")};
  }
}

}  // namespace

std::vector<std::string> MessageModes() {
  std::vector<std::string> names;
  for (const auto& mode : ModesOf<RankMethod>()) names.emplace_back(mode.name);
  return names;
}

std::unique_ptr<RunnerFactory> MakeRunnerFactory(std::string_view mode, const Workload& workload) {
  if (auto bound = MakeBoundFactory(mode, workload)) return bound;
  return VisitMethod(workload.method, [&](auto method) -> std::unique_ptr<RunnerFactory> {
    for (const auto& known : ModesOf<decltype(method)>()) {
      if (known.name == mode) return known.make(workload);
    }
    throw std::invalid_argument("unknown mode \"" + std::string(mode) + "\"");
  });
}

}  // namespace harena::bench
