// Requests that are read after their RPC has ended.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"

namespace harena::grpc {
namespace {

// What a handler hands on.
struct Kept {
  DetachedScope scope;
  const Task* task = nullptr;
  const Result* result = nullptr;
};

class DetachTest : public ModeTest {
 protected:
  // Handlers answer and hand their scope on.
  void DetachInHandler(Rig<>& rig) {
    rig.service.on_run = [this](::grpc::CallbackServerContext* context, const Task* task,
                                Result* result) {
      Answer(*task, result);
      auto* reactor = new TestReactor;
      reactor->Finish(::grpc::Status::OK);
      std::lock_guard lock(mutex_);
      kept_.push_back({ScopeOf(*context).Detach(), task, result});
      return reactor;
    };
  }

  std::vector<Kept> TakeKept() {
    std::lock_guard lock(mutex_);
    return std::exchange(kept_, {});
  }

  static void ExpectReadable(const Kept& kept) {
    EXPECT_EQ(kept.task->text(), MakeTask().text());
    EXPECT_EQ(kept.task->items_size(), MakeTask().items_size());
    EXPECT_EQ(kept.task->items(1).labels().at("key"), "value 1");
    EXPECT_EQ(kept.result->text(), "re: " + MakeTask().text());
    EXPECT_GT(kept.scope.bytes_used(), 0u);
  }

 private:
  std::mutex mutex_;
  std::vector<Kept> kept_;
};
INSTANTIATE_TEST_SUITE_P(Modes, DetachTest, ::testing::ValuesIn(kModes), ModeName);

TEST_P(DetachTest, ARequestIsReadOnAnotherThreadAfterItsRpc) {
  Rig<> rig;
  DetachInHandler(rig);
  rig.Start(GetParam());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.Run(MakeTask()).ok());
  std::vector<Kept> kept = TakeKept();
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(rig.scopes_live(), 3u);
  EXPECT_EQ(rig.stats().scopes.scopes_detached, 3u);
  // Later calls run on other memory.
  rig.service.on_run = HookedService().on_run;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(rig.Run(MakeTask(100)).ok());
  EXPECT_TRUE(Eventually([&] { return rig.scopes_live() == 3; }));
  std::thread reader([&] {
    for (const Kept& one : kept) ExpectReadable(one);
    kept.clear();
  });
  reader.join();
  rig.ExpectAllMemoryBack();
}

TEST_P(DetachTest, ADetachedScopeOutlivesTheServers) {
  PagePool::Default();  // never destroyed, as for any detached scope that outlives its pool's users
  std::vector<Kept> kept;
  HookedService* service = nullptr;
  {
    auto owned = std::make_unique<HookedService>();
    service = owned.get();
    std::mutex mutex;
    service->on_run = [&](::grpc::CallbackServerContext* context, const Task* task,
                          Result* result) {
      Answer(*task, result);
      auto* reactor = new TestReactor;
      reactor->Finish(::grpc::Status::OK);
      std::lock_guard lock(mutex);
      kept.push_back({ScopeOf(*context).Detach(), task, result});
      return reactor;
    };
    Server scoped(*owned, Options{.mode = GetParam()});
    ::grpc::ServerBuilder builder;
    builder.RegisterService(scoped.service());
    auto server = builder.BuildAndStart();
    auto stub = test::Work::NewStub(server->InProcessChannel({}));
    for (int i = 0; i < 3; ++i) {
      ::grpc::ClientContext context;
      Result result;
      ASSERT_TRUE(stub->Run(&context, MakeTask(), &result).ok());
    }
    server->Shutdown();
  }
  // No grpc::Server, no harena::grpc::Server, no service any more.
  ASSERT_EQ(kept.size(), 3u);
  for (const Kept& one : kept) ExpectReadable(one);
  kept.clear();
}

TEST_P(DetachTest, ScopesAreDetachedAndReadWhileTheServerStops) {
  for (int round = 0; round < 3; ++round) {
    Rig<> rig;
    DetachInHandler(rig);
    rig.Start(GetParam());
    std::atomic<bool> stop{false};
    std::atomic<int> read{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back([&] {
        while (rig.Run(MakeTask()).ok()) {
        }
      });
    }
    std::thread reader([&] {
      while (!stop) {
        for (const Kept& one : TakeKept()) {
          ExpectReadable(one);
          read.fetch_add(1);
        }
      }
    });
    EXPECT_TRUE(Eventually([&] { return read > 10; }));
    rig.server().Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(10));
    for (std::thread& client : clients) client.join();
    stop = true;
    reader.join();
    const std::vector<Kept> last = TakeKept();
    for (const Kept& one : last) ExpectReadable(one);
    EXPECT_EQ(rig.scopes_live(), last.size());
  }
}

TEST_P(DetachTest, InOnDoneIsNotTooLate) {
  Rig<> rig;
  Kept kept;
  std::atomic<bool> done{false};
  rig.service.on_run = [&](::grpc::CallbackServerContext* context, const Task* task,
                           Result* result) {
    Answer(*task, result);
    auto* reactor = new TestReactor([&, context, task, result] {
      kept = {ScopeOf(*context).Detach(), task, result};
      done = true;
    });
    reactor->Finish(::grpc::Status::OK);
    return reactor;
  };
  rig.Start(GetParam());
  ASSERT_TRUE(rig.Run(MakeTask()).ok());
  ASSERT_TRUE(Eventually([&] { return done.load(); }));
  rig.Stop();
  ExpectReadable(kept);
  kept = {};
  rig.ExpectAllMemoryBack();
}

}  // namespace
}  // namespace harena::grpc
