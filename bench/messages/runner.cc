#include "bench/messages/runner.h"

#include <optional>
#include <stdexcept>

#include <google/protobuf/arena.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "harena/pb/message.h"
#include "harena/pb/message_keeper.h"
#include "harena/pb/parse.h"
#include "harena/scope/scope_pool.h"

namespace harena::bench {
namespace {

[[noreturn]] void Malformed() { throw std::runtime_error("the workload's request does not parse"); }

// Where one request's two messages come from: Begin(), parse, ..., End(). One class per mode.
template <typename Method>
struct HeapMessages {
  struct Shared {};
  explicit HeapMessages(Shared&) {}

  void Begin() {
    request = new typename Method::Request;
    response = new typename Method::Response;
  }
  bool Parse(std::string_view wire) {
    return request->ParseFromArray(wire.data(), static_cast<int>(wire.size()));
  }
  void End() {
    delete request;
    delete response;
  }

  typename Method::Request* request = nullptr;
  typename Method::Response* response = nullptr;
};

template <typename Method>
struct ClearedMessages {
  struct Shared {};
  explicit ClearedMessages(Shared&) {}

  void Begin() {}
  bool Parse(std::string_view wire) {
    return request->ParseFromArray(wire.data(), static_cast<int>(wire.size()));
  }
  void End() {
    request->Clear();
    response->Clear();
  }

  std::unique_ptr<typename Method::Request> request = std::make_unique<typename Method::Request>();
  std::unique_ptr<typename Method::Response> response =
      std::make_unique<typename Method::Response>();
};

template <typename Method>
struct StockArenaMessages {
  struct Shared {};
  explicit StockArenaMessages(Shared&) {}

  void Begin() {
    arena.emplace();
    request = pb::CreateOn<typename Method::Request>(*arena);
    response = pb::CreateOn<typename Method::Response>(*arena);
  }
  bool Parse(std::string_view wire) {
    return request->ParseFromArray(wire.data(), static_cast<int>(wire.size()));
  }
  void End() { arena.reset(); }

  std::optional<google::protobuf::Arena> arena;
  typename Method::Request* request = nullptr;
  typename Method::Response* response = nullptr;
};

template <typename Method>
struct PagesMessages {
  struct Shared {
    ScopePool scopes{{.mode = Mode::kPages}};
  };
  explicit PagesMessages(Shared& state) : shared(state) {}

  void Begin() {
    scope.emplace(shared.scopes.Acquire());
    request = scope->CreateMessage<typename Method::Request>();
    response = scope->CreateMessage<typename Method::Response>();
  }
  bool Parse(std::string_view wire) { return static_cast<bool>(pb::Parse(*scope, wire, *request)); }
  void End() { scope.reset(); }

  Shared& shared;
  std::optional<Scope> scope;
  typename Method::Request* request = nullptr;
  typename Method::Response* response = nullptr;
};

template <typename Method>
struct ReuseMessages {
  struct Shared {
    ScopePool scopes{{.mode = Mode::kReuse}};
    pb::MessageKeeper keeper{Method::Request::default_instance(),
                             Method::Response::default_instance(),
                             {.mode = Mode::kReuse}};
  };
  explicit ReuseMessages(Shared& state) : shared(state) {}

  void Begin() {
    scope.emplace(shared.scopes.Acquire());
    const pb::MessageKeeper::Pair pair = shared.keeper.Borrow(*scope);
    request = static_cast<typename Method::Request*>(pair.request);
    response = static_cast<typename Method::Response*>(pair.response);
  }
  bool Parse(std::string_view wire) { return static_cast<bool>(pb::Parse(*scope, wire, *request)); }
  void End() { scope.reset(); }

  Shared& shared;
  std::optional<Scope> scope;
  typename Method::Request* request = nullptr;
  typename Method::Response* response = nullptr;
};

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
    if (!messages_.Parse(wire)) Malformed();
    phases.parse = watch.Lap();
    Method::Handle(*messages_.request, &*messages_.response);
    phases.build = watch.Lap();
    Serialize();
    phases.serialize = watch.Lap();
    messages_.End();
    phases.destroy = watch.Lap();
    return phases;
  }

  void Fill() override {
    messages_.Begin();
    messages_.request->CopyFrom(source_);
    Method::Handle(*messages_.request, &*messages_.response);
    bytes_ = messages_.request->ByteSizeLong() + messages_.response->ByteSizeLong();
    messages_.End();
  }

  std::string_view response() const override { return {buffer_.data(), bytes_}; }

 private:
  void Serialize() {
    bytes_ = messages_.response->ByteSizeLong();
    // Once per size record: the buffer belongs to the transport, not to the message's memory.
    if (buffer_.size() < bytes_) buffer_.resize(bytes_);
    messages_.response->SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(buffer_.data()));
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

template <typename Method>
std::unique_ptr<RunnerFactory> MakeTyped(std::string_view mode, const Workload& workload) {
  if (mode == "heap") return std::make_unique<TypedFactory<Method, HeapMessages<Method>>>(workload);
  if (mode == "heap_clear") {
    return std::make_unique<TypedFactory<Method, ClearedMessages<Method>>>(workload);
  }
  if (mode == "arena") {
    return std::make_unique<TypedFactory<Method, StockArenaMessages<Method>>>(workload);
  }
  if (mode == "pages") {
    return std::make_unique<TypedFactory<Method, PagesMessages<Method>>>(workload);
  }
  if (mode == "reuse") {
    return std::make_unique<TypedFactory<Method, ReuseMessages<Method>>>(workload);
  }
  throw std::invalid_argument("unknown mode \"" + std::string(mode) + "\"");
}

}  // namespace

std::vector<std::string> MessageModes() {
  return {"heap", "arena", "pages", "reuse", "heap_clear"};
}

std::unique_ptr<RunnerFactory> MakeRunnerFactory(std::string_view mode, const Workload& workload) {
  return VisitMethod(workload.method,
                     [&](auto method) { return MakeTyped<decltype(method)>(mode, workload); });
}

}  // namespace harena::bench
