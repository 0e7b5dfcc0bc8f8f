// Clients and completion-queue servers: calls that own their messages.
#include "harena/adapters/grpc/call.h"

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/adapters/grpc/stream_message.h"
#include "harena/adapters/grpc/test_rig.h"
#include "harena/mem/budget.h"
#include "harena/pb/arena/block_hooks.h"

namespace harena::grpc {
namespace {

using RunClientCall = ClientCall<Task, Result>;
using RunServerCall = ServerCall<Task, Result>;

class CallTest : public ::testing::Test {
 protected:
  void SetUp() override { rig.Start(Mode::kPages); }
  void TearDown() override {
    const ScopePoolStats stats = calls.stats();
    EXPECT_EQ(stats.scopes_live(), 0u);
    EXPECT_GT(stats.scopes_made, 0u);
    EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  }

  static void Fill(RunClientCall& call) {
    call.request() = MakeTask();
    EXPECT_NE(call.request().GetArena(), nullptr);
    EXPECT_EQ(call.response().GetArena(), call.request().GetArena());
  }
  static void ExpectAnswered(RunClientCall& call) {
    EXPECT_EQ(call.response().number(), 42);
    EXPECT_EQ(call.response().items_size(), MakeTask().items_size());
    EXPECT_GT(call.scope().bytes_used(), 0u);
  }

  PagePool pool;
  CallPool<RunClientCall> calls{Options{.page_pool = &pool}};
  Rig<> rig;
};

TEST_F(CallTest, Synchronous) {
  for (int i = 0; i < 20; ++i) {
    auto call = calls.Acquire();
    Fill(call);
    ASSERT_TRUE(rig.stub().Run(&call.context(), call.request(), &call.response()).ok());
    ExpectAnswered(call);
  }
  // Learned from what they used.
  EXPECT_GT(calls.stats().bytes_p50, 0u);
}

// Nothing of a call is refused: where the process's limit is used up, its memory goes beyond it.
TEST_F(CallTest, AtTheProcessLimit) {
  CallPool<RunServerCall> waiting{Options{.page_pool = &pool}};
  ScopePool scopes{Options{.page_pool = &pool}, MessagesMayThrow::kNo};
  ProcessBudget().set_bytes_max(1);
  {
    // Acquired before the server is asked, which does have to refuse now.
    auto call = calls.Acquire();
    Fill(call);
    for (int i = 0; i < 10'000; ++i) call.response().add_items();
    const auto server_call = waiting.Acquire();
    StreamMessage<Task> message(scopes);
    EXPECT_NE(message.Renew(), nullptr);
  }
  ProcessBudget().set_bytes_max(kUnlimitedBytes);
  EXPECT_EQ(calls.stats().scopes_refused, 0u);
  EXPECT_EQ(waiting.stats().scopes_refused, 0u);
}

TEST_F(CallTest, OnACompletionQueue) {
  constexpr int kCalls = 10;
  struct Pending {
    explicit Pending(RunClientCall taken) : call(std::move(taken)) {}
    RunClientCall call;
    std::unique_ptr<::grpc::ClientAsyncResponseReader<Result>> reader;
    ::grpc::Status status;
  };
  ::grpc::CompletionQueue queue;
  for (int i = 0; i < kCalls; ++i) {
    auto* pending = new Pending(calls.Acquire());
    Fill(pending->call);
    pending->reader =
        rig.stub().AsyncRun(&pending->call.context(), pending->call.request(), &queue);
    pending->reader->Finish(&pending->call.response(), &pending->status, pending);
  }
  for (int i = 0; i < kCalls; ++i) {
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
    const std::unique_ptr<Pending> pending(static_cast<Pending*>(tag));
    EXPECT_TRUE(ok && pending->status.ok());
    ExpectAnswered(pending->call);
  }
}

TEST_F(CallTest, WithACallback) {
  constexpr int kCalls = 10;
  std::latch done(kCalls);
  for (int i = 0; i < kCalls; ++i) {
    auto call = std::make_shared<RunClientCall>(calls.Acquire());
    Fill(*call);
    // What gRPC does between here and the callback, said where TSan sees it.
    auto* handed_on = call->scope().Create<std::atomic<bool>>(false);
    handed_on->store(true, std::memory_order_release);
    RunClientCall& running = *call;
    rig.stub().async()->Run(
        &running.context(), &running.request(), &running.response(),
        [call = std::move(call), handed_on, &done](const ::grpc::Status& status) mutable {
          EXPECT_TRUE(handed_on->load(std::memory_order_acquire));
          EXPECT_TRUE(status.ok());
          ExpectAnswered(*call);
          call.reset();
          done.count_down();
        });
  }
  done.wait();
}

TEST_F(CallTest, ACancelledAndAFailedCallGiveTheirMemoryBack) {
  auto cancelled = calls.Acquire();
  cancelled.context().TryCancel();
  EXPECT_EQ(
      rig.stub().Run(&cancelled.context(), cancelled.request(), &cancelled.response()).error_code(),
      ::grpc::StatusCode::CANCELLED);
  auto late = calls.Acquire();
  late.context().set_deadline(std::chrono::system_clock::now() - std::chrono::seconds(1));
  EXPECT_EQ(rig.stub().Run(&late.context(), late.request(), &late.response()).error_code(),
            ::grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(CallTest, AResponseOutlivesItsCallWhenDetached) {
  const Result* response = nullptr;
  DetachedScope kept;
  {
    auto call = calls.Acquire();
    Fill(call);
    ASSERT_TRUE(rig.stub().Run(&call.context(), call.request(), &call.response()).ok());
    response = &call.response();
    kept = call.scope().Detach();
  }
  EXPECT_EQ(response->items_size(), MakeTask().items_size());
}

// In a handler a frame stands that lets arenas throw; the answer of a call made there is parsed by
// gRPC, so it must grow past every limit rather than throw.
class CallsInHandlers : public ModeTest {
 protected:
  void ExpectGrowsPastItsLimit() {
    Rig<> backend;
    backend.service.on_run = [](::grpc::CallbackServerContext*, const Task*, Result* result) {
      for (int i = 0; i < 8'000; ++i) result->add_items();
      return FinishNow();
    };
    backend.Start(Mode::kPages);
    CallPool<RunClientCall> limited(Options{.mode = GetParam(), .request_bytes_max = 256 << 10});
    Rig<> rig;
    rig.service.on_run = [&](::grpc::CallbackServerContext*, const Task*, Result* result) {
      auto call = limited.Acquire();
      EXPECT_TRUE(backend.stub().Run(&call.context(), call.request(), &call.response()).ok());
      result->set_number(call.response().items_size());
      return FinishNow();
    };
    rig.Start(Options{.request_bytes_max = 256 << 10});
    Result result;
    ASSERT_TRUE(rig.Run({}, &result).ok());
    EXPECT_EQ(result.number(), 8'000);
  }
};
class CallsInHandlersOnMalloc : public CallsInHandlers {};
INSTANTIATE_TEST_SUITE_P(Modes, CallsInHandlers, ::testing::Values(Mode::kPages), ModeName);
INSTANTIATE_TEST_SUITE_P(Modes, CallsInHandlersOnMalloc, ::testing::Values(Mode::kArena), ModeName);

TEST_P(CallsInHandlers, GrowPastTheLimitInsteadOfThrowingThroughGrpc) { ExpectGrowsPastItsLimit(); }

TEST_P(CallsInHandlersOnMalloc, GrowPastTheLimitInsteadOfThrowingThroughGrpc) {
  ExpectGrowsPastItsLimit();
}

TEST(CallDeathTest, AScopeThatMayThrowIsNotTaken) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(RunClientCall call{Scope()}, "take the scope from a CallPool");
}

// A completion-queue server: four calls wait for requests at any time.
class QueueServer {
 public:
  explicit QueueServer(CallPool<RunServerCall>& calls) : calls_(calls) {
    ::grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service_);
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    for (int i = 0; i < 4; ++i) Await();
    thread_ = std::thread([this] { Serve(); });
  }
  ~QueueServer() {
    server_->Shutdown(std::chrono::system_clock::now());
    queue_->Shutdown();
    thread_.join();
  }
  std::unique_ptr<test::Work::Stub> NewStub() const {
    return test::Work::NewStub(::grpc::CreateChannel("127.0.0.1:" + std::to_string(port_),
                                                     ::grpc::InsecureChannelCredentials()));
  }

 private:
  using Service = test::Work::WithAsyncMethod_Run<test::Work::Service>;
  struct Pending {
    explicit Pending(RunServerCall taken) : call(std::move(taken)) {}
    RunServerCall call;
    bool answered = false;
  };

  void Await() {
    auto* pending = new Pending(calls_.Acquire());
    service_.RequestRun(&pending->call.context(), &pending->call.request(),
                        &pending->call.responder(), queue_.get(), queue_.get(), pending);
  }
  void Serve() {
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) {
      auto* pending = static_cast<Pending*>(tag);
      if (!ok || pending->answered) {
        delete pending;
        continue;
      }
      Await();
      Answer(pending->call.request(), &pending->call.response());
      pending->answered = true;
      pending->call.responder().Finish(pending->call.response(), ::grpc::Status::OK, pending);
    }
  }

  CallPool<RunServerCall>& calls_;
  Service service_;
  std::unique_ptr<::grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<::grpc::Server> server_;
  std::thread thread_;
  int port_ = 0;
};

TEST(ServerCallTest, ServesFromACompletionQueue) {
  PagePool pool;
  CallPool<RunServerCall> calls(Options{.page_pool = &pool});
  {
    QueueServer server(calls);
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back([&] {
        const auto stub = server.NewStub();
        for (int call = 0; call < 20; ++call) {
          ::grpc::ClientContext context;
          Result result;
          EXPECT_TRUE(stub->Run(&context, MakeTask(), &result).ok());
          EXPECT_EQ(result.items_size(), MakeTask().items_size());
        }
      });
    }
    for (std::thread& client : clients) client.join();
  }
  // 60 served, and those that were waiting when the server stopped.
  EXPECT_GE(calls.stats().scopes_made, 64u);
  EXPECT_EQ(calls.stats().scopes_live(), 0u);
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

}  // namespace
}  // namespace harena::grpc
