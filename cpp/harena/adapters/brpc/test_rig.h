// What the adapter's tests share: services whose handlers each test writes itself, and a real
// server with clients on loopback. Not installed.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <brpc/channel.h>
#include <brpc/controller.h>
#include <brpc/server.h>
#include <butil/logging.h>
#include <gtest/gtest.h>

#include "harena/adapters/brpc/message_factory.h"
#include "harena/adapters/brpc/scope_of.h"
#include "harena/base/compiler.h"
#include "harena/mem/page_pool.h"
#include "harena/scope/mode.h"
#include "harena/test/brpc_plain.pb.h"
#include "harena/test/brpc_work.pb.h"

#if HARENA_ASAN
// What brpc's own background bthreads hold in local variables: LeakSanitizer does not look at the
// stacks of bthreads.
extern "C" __attribute__((used)) inline const char* __lsan_default_suppressions() {
  return "leak:GlobalUpdate\nleak:brpc::SocketMap::WatchConnections\n";
}
#endif

namespace harena::brpc {

using google::protobuf::Closure;
using google::protobuf::RpcController;
using test::brpc::Form;
using test::brpc::Holder;
using test::brpc::Result;
using test::brpc::Task;
using Controller = ::brpc::Controller;

inline constexpr size_t kMiB = size_t{1} << 20;
inline constexpr char kRun[] = "harena.test.brpc.Work.Run";
inline constexpr char kHold[] = "harena.test.brpc.Work.Hold";
inline constexpr char kCheck[] = "harena.test.brpc.Plain.Check";

/// The answer that every mode must give to the same task.
inline void Answer(const Task& task, Result* result) {
  result->set_text("re: " + task.text());
  result->set_number(task.number() + 1);
  for (const auto& item : task.items()) *result->add_items() = item;
  result->set_blob(task.blob());
}

inline Task MakeTask(int items = 20,
                     const std::string& text = "longer than any string's own room") {
  Task task;
  task.set_text(text);
  task.set_number(41);
  task.set_blob(std::string(300, '\x01'));
  for (int i = 0; i < items; ++i) {
    auto* item = task.add_items();
    item->set_name("item with a name of ordinary length " + std::to_string(i));
    for (int score = 0; score < 8; ++score) item->add_scores(score * i);
    (*item->mutable_labels())["key"] = "value of a label, of ordinary length " + std::to_string(i);
  }
  return task;
}

inline Result Expected(const Task& task) {
  Result result;
  Answer(task, &result);
  return result;
}

class HookedService : public test::brpc::Work {
 public:
  using Handler = std::function<void(Controller*, const Task*, Result*, Closure*)>;
  Handler on_run = [](Controller*, const Task* task, Result* result, Closure* done) {
    Answer(*task, result);
    done->Run();
  };

  void Run(RpcController* controller, const Task* task, Result* result, Closure* done) override {
    on_run(static_cast<Controller*>(controller), task, result, done);
  }
  void Hold(RpcController*, const Holder* request, Holder* response, Closure* done) override {
    response->mutable_task()->set_text("held: " + request->task().text());
    done->Run();
  }
};

class PlainService : public test::brpc::Plain {
 public:
  void Check(RpcController*, const Form* request, Form* response, Closure* done) override {
    *response = *request;
    done->Run();
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

/// A real server with both services, its own page pool, and channels to it.
/// The pool checks at its end that every block came back.
class Rig {
 public:
  // brpc tells of every start and stop, and of every bad request.
  Rig() { logging::SetMinLogLevel(logging::BLOG_ERROR); }
  ~Rig() { Stop(); }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  /// The rig's pool replaces the one in `options`.
  void Start(FactoryOptions options, ::brpc::ServerOptions server_options = {}) {
    options.defaults.page_pool = &pool_;
    for (auto& [name, own] : options.methods) own.page_pool = &pool_;
    factory_ = new MessageFactory(options);
    server_options.rpc_pb_message_factory = factory_;
    server_.emplace();
    ASSERT_EQ(server_->AddService(served, ::brpc::SERVER_DOESNT_OWN_SERVICE), 0);
    ASSERT_EQ(server_->AddService(&plain, ::brpc::SERVER_DOESNT_OWN_SERVICE), 0);
    ASSERT_EQ(server_->Start("127.0.0.1:0", &server_options), 0);
  }
  void Start(const Options& defaults) { Start(FactoryOptions{.defaults = defaults}); }
  void Start(Mode mode) { Start(Options{.mode = mode}); }

  /// Ends the server, and the factory with it.
  void Stop() {
    if (!server_) return;
    server_->Stop(0);
    server_->Join();
    server_.reset();
    factory_ = nullptr;
  }

  MessageFactory& factory() { return *factory_; }
  ::brpc::Server& server() { return *server_; }
  PagePool& pool() { return pool_; }
  std::string address() const {
    return "127.0.0.1:" + std::to_string(server_->listen_address().port);
  }

  std::unique_ptr<::brpc::Channel> Connect(const std::string& protocol = "baidu_std",
                                           const std::string& connection_type = "") const {
    ::brpc::ChannelOptions options;
    options.protocol = protocol;
    options.connection_type = connection_type;
    options.timeout_ms = 60'000;  // machines may stand still for long
    options.connect_timeout_ms = 60'000;
    options.max_retry = 0;
    auto channel = std::make_unique<::brpc::Channel>();
    EXPECT_EQ(channel->Init(address().c_str(), &options), 0);
    return channel;
  }

  /// 0, or the error code.
  int Run(const Task& task, Result* result = nullptr, std::string* error_text = nullptr) {
    const auto channel = Connect();
    test::brpc::Work::Stub stub(channel.get());
    Controller controller;
    Result ignored;
    stub.Run(&controller, &task, result != nullptr ? result : &ignored, nullptr);
    if (error_text != nullptr) *error_text = controller.ErrorText();
    return controller.ErrorCode();
  }

  /// GET, or POST of `body`; what came back, or "<code>: <text>" of an error.
  std::string Http(const std::string& path, const std::string& body = "",
                   const std::string& content_type = "application/json") {
    const auto channel = Connect("http");
    Controller controller;
    controller.http_request().uri() = address() + path;
    if (!body.empty()) {
      controller.http_request().set_method(::brpc::HTTP_METHOD_POST);
      controller.http_request().set_content_type(content_type);
      controller.request_attachment().append(body);
    }
    channel->CallMethod(nullptr, &controller, nullptr, nullptr, nullptr);
    if (controller.Failed()) {
      return std::to_string(controller.http_response().status_code()) + ": " +
             controller.ErrorText();
    }
    return controller.response_attachment().to_string();
  }

  pb::MethodStats stats(std::string_view method = kRun) const {
    for (const pb::MethodStats& stats : factory_->stats()) {
      if (stats.name == method) return stats;
    }
    ADD_FAILURE() << "no method " << method;
    return {};
  }

  uint64_t scopes_live() const {
    uint64_t live = 0;
    for (const auto& stats : factory_->stats()) live += stats.scopes.scopes_live();
    return live;
  }

  /// A client may have its answer a moment before the server is done with the call.
  void ExpectAllMemoryBack() {
    EXPECT_TRUE(Eventually([this] { return scopes_live() == 0; })) << scopes_live();
    EXPECT_TRUE(Eventually([this] {
      size_t kept = 0;
      for (const auto& stats : factory_->stats()) kept += stats.kept.bytes_idle;
      return pool_.stats().bytes_in_use == kept;
    })) << "bytes in use: "
        << pool_.stats().bytes_in_use;
  }

 private:
  // In the order of their lifetimes: blocks are returned to the pool by whatever is below it.
  PagePool pool_;

 public:
  HookedService service;
  /// What answers for `service`: a test may put something before it.
  google::protobuf::Service* served = &service;
  PlainService plain;

 private:
  std::optional<::brpc::Server> server_;
  MessageFactory* factory_ = nullptr;  // the server's
};

/// A test that runs once per mode.
class ModeTest : public ::testing::TestWithParam<Mode> {};

inline std::string ModeName(const ::testing::TestParamInfo<Mode>& info) {
  return std::string(ToString(info.param));
}

}  // namespace harena::brpc
