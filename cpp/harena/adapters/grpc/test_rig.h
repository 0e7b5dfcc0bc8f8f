// What the adapter's tests share: a service whose handlers each test writes itself, and a real
// server with a client on loopback. Not installed.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "harena/adapters/grpc/scope_of.h"
#include "harena/adapters/grpc/server.h"
#include "harena/mem/page_pool.h"
#include "harena/scope/mode.h"
#include "harena/test/grpc_work.grpc.pb.h"
#include "harena/test/grpc_work.harena.grpc.h"

namespace harena::grpc {

using test::Result;
using test::Task;

inline constexpr size_t kMiB = size_t{1} << 20;
inline constexpr char kRun[] = "/harena.test.Work/Run";
inline constexpr char kHold[] = "/harena.test.Work/Hold";

/// A reactor that runs a function before it goes away. The atomic stands for gRPC's own
/// synchronisation between the handler, whoever calls Finish() and OnDone(): TSan sees only what
/// was compiled with it.
class TestReactor final : public ::grpc::ServerUnaryReactor {
 public:
  explicit TestReactor(std::function<void()> on_done = {},
                       std::function<void(TestReactor&)> on_cancel = {})
      : on_done_(std::move(on_done)), on_cancel_(std::move(on_cancel)) {
    handed_on_.store(true, std::memory_order_release);
  }

  void Finish(const ::grpc::Status& status) {
    handed_on_.store(true, std::memory_order_release);
    ServerUnaryReactor::Finish(status);
  }

 private:
  void OnCancel() override {
    static_cast<void>(handed_on_.load(std::memory_order_acquire));
    if (on_cancel_) on_cancel_(*this);
  }
  void OnDone() override {
    static_cast<void>(handed_on_.load(std::memory_order_acquire));
    if (on_done_) on_done_();
    delete this;
  }

  const std::function<void()> on_done_;
  const std::function<void(TestReactor&)> on_cancel_;
  std::atomic<bool> handed_on_{false};
};

inline ::grpc::ServerUnaryReactor* FinishNow(const ::grpc::Status& status = ::grpc::Status::OK) {
  auto* reactor = new TestReactor;
  reactor->Finish(status);
  return reactor;
}

/// The answer that every mode must give to the same task.
inline void Answer(const Task& task, Result* result) {
  result->set_text("re: " + task.text());
  result->set_number(task.number() + 1);
  for (const auto& item : task.items()) *result->add_items() = item;
}

inline Task MakeTask(int items = 20) {
  Task task;
  task.set_text("a text that is longer than any small string buffer");
  task.set_number(41);
  for (int i = 0; i < items; ++i) {
    auto* item = task.add_items();
    item->set_name("item with a name of ordinary length " + std::to_string(i));
    for (int score = 0; score < 8; ++score) item->add_scores(score * i);
    (*item->mutable_labels())["key"] = "value " + std::to_string(i);
  }
  return task;
}

/// 200 KB of wire that wants some 276 MB: empty sub-messages of a type with 300 fields.
inline std::string BombWire() {
  std::string wire;
  for (int i = 0; i < 100'000; ++i) wire.append("\x0a\x00", 2);
  return wire;
}

/// The overrides are private on purpose: wrapping must not need more access than gRPC does.
class HookedService : public test::Work::CallbackService {
 public:
  using Run_ = std::function<::grpc::ServerUnaryReactor*(::grpc::CallbackServerContext*,
                                                         const Task*, Result*)>;
  Run_ on_run = [](::grpc::CallbackServerContext*, const Task* task, Result* result) {
    Answer(*task, result);
    return FinishNow();
  };
  std::atomic<int> calls{0};

 private:
// gRPC's generated mixins hide it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverloaded-virtual"
  ::grpc::ServerUnaryReactor* Run(::grpc::CallbackServerContext* context, const Task* task,
                                  Result* result) override {
    calls.fetch_add(1);
    return on_run(context, task, result);
  }
#pragma GCC diagnostic pop
  ::grpc::ServerUnaryReactor* Hold(::grpc::CallbackServerContext*, const test::Holder* request,
                                   test::Holder* response) override {
    response->mutable_task()->set_text("held: " + request->task().text());
    return FinishNow();
  }
};

/// Polls `done` for up to ten seconds.
inline bool Eventually(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// A service behind a real server, its own page pool, and a channel to it.
/// The pool checks at its end that every block came back.
template <typename Service = HookedService>
class Rig {
 public:
  using Tweak = std::function<void(::grpc::ServerBuilder&)>;

  explicit Rig(PageSourceRef source = SystemPageSource::Instance()) : pool_({}, source) {}
  ~Rig() { Stop(); }

  /// Starts with every method wrapped. The rig's pool replaces the one in `options`.
  void Start(ServerOptions options, const Tweak& tweak = {}) {
    options.defaults.page_pool = &pool_;
    for (auto& [name, own] : options.methods) own.page_pool = &pool_;
    scoped_.emplace(service, options);
    Listen(scoped_->service(), tweak);
  }
  void Start(const Options& defaults, const Tweak& tweak = {}) {
    Start(ServerOptions{.defaults = defaults}, tweak);
  }
  void Start(Mode mode) { Start(Options{.mode = mode}); }
  /// Starts the service as gRPC serves it by itself.
  void StartPlain(const Tweak& tweak = {}) { Listen(&service, tweak); }

  void Stop() {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }
  /// Ends the harena::grpc::Server too, as a program does that goes on without serving.
  void Unwrap() {
    Stop();
    scoped_.reset();
  }

  Server& scoped() { return *scoped_; }
  ::grpc::Server& server() { return *server_; }
  PagePool& pool() { return pool_; }
  test::Work::Stub& stub() { return *stub_; }
  int port() const { return port_; }
  std::shared_ptr<::grpc::Channel> channel() { return channel_; }

  ::grpc::Status Run(const Task& task, Result* result = nullptr) {
    ::grpc::ClientContext context;
    Result ignored;
    return stub_->Run(&context, task, result != nullptr ? result : &ignored);
  }

  /// Sends bytes as the request; `response` gets the answer's.
  ::grpc::Status RunRaw(const std::string& wire, std::string* response = nullptr,
                        const char* method = kRun) {
    ::grpc::GenericStub stub(channel_);
    ::grpc::CompletionQueue queue;
    ::grpc::ClientContext context;
    const ::grpc::Slice slice(wire);
    const ::grpc::ByteBuffer request(&slice, 1);
    auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
    call->StartCall();
    ::grpc::ByteBuffer answer;
    ::grpc::Status status;
    call->Finish(&answer, &status, this);
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue.Next(&tag, &ok) && ok);
    if (response != nullptr && status.ok()) {
      ::grpc::Slice flat;
      EXPECT_TRUE(answer.DumpToSingleSlice(&flat).ok());
      response->assign(reinterpret_cast<const char*>(flat.begin()), flat.size());
    }
    return status;
  }

  MethodStats stats(std::string_view method = kRun) const {
    for (const MethodStats& stats : scoped_->stats()) {
      if (stats.name == method) return stats;
    }
    ADD_FAILURE() << "no method " << method;
    return {};
  }

  uint64_t scopes_live() const {
    uint64_t live = 0;
    for (const MethodStats& stats : scoped_->stats()) live += stats.scopes.scopes_live();
    return live;
  }

  /// A client has its answer a moment before the server is done with the call.
  void ExpectAllMemoryBack() {
    EXPECT_TRUE(Eventually([this] { return scopes_live() == 0; }));
    EXPECT_TRUE(Eventually([this] {
      size_t kept = 0;
      for (const MethodStats& stats : scoped_->stats()) kept += stats.kept.bytes_idle;
      return pool_.stats().bytes_in_use == kept;
    })) << "bytes in use: "
        << pool_.stats().bytes_in_use;
  }

 private:
  void Listen(::grpc::Service* registered, const Tweak& tweak) {
    ::grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(registered);
    if (tweak) tweak(builder);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    ::grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    // A window that does not grow: a response nobody reads stays with the server.
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    channel_ = ::grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port_),
                                           ::grpc::InsecureChannelCredentials(), arguments);
    stub_ = test::Work::NewStub(channel_);
  }

  // In the order of their lifetimes: blocks are returned to the pool by whatever is below it.
  PagePool pool_;

 public:
  Service service;

 private:
  std::optional<Server> scoped_;
  std::unique_ptr<::grpc::Server> server_;
  std::shared_ptr<::grpc::Channel> channel_;
  std::unique_ptr<test::Work::Stub> stub_;
  int port_ = 0;
};

/// A test that runs once per mode.
class ModeTest : public ::testing::TestWithParam<Mode> {};

inline std::string ModeName(const ::testing::TestParamInfo<Mode>& info) {
  return std::string(ToString(info.param));
}

}  // namespace harena::grpc
