// Requests that end late, elsewhere, or not as they should.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <bthread/bthread.h>
#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>

#include "harena/adapters/brpc/test_rig.h"

namespace harena::brpc {
namespace {

using google::protobuf::util::MessageDifferencer;

// Not pthread_self(): the compiler believes that a function stays on its thread, and asks once.
pid_t CurrentThread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

class Lifecycle : public ModeTest {
 protected:
  void SetUp() override { rig_.Start(GetParam()); }

  // Calls from several threads at once, until each has made `rounds`; how many were wrong.
  int CallFromThreads(int threads, int rounds) {
    std::atomic<int> wrong{0};
    std::vector<std::thread> clients;
    for (int thread = 0; thread < threads; ++thread) {
      clients.emplace_back([&, thread] {
        const auto channel = rig_.Connect(thread % 2 == 0 ? "baidu_std" : "h2:grpc");
        test::brpc::Work::Stub stub(channel.get());
        for (int round = 0; round < rounds; ++round) {
          const Task task = MakeTask(round % 30, "of thread " + std::to_string(thread));
          Controller controller;
          Result result;
          stub.Run(&controller, &task, &result, nullptr);
          if (controller.Failed() || !MessageDifferencer::Equals(result, Expected(task))) ++wrong;
        }
      });
    }
    for (auto& client : clients) client.join();
    return wrong;
  }

  Rig rig_;
};
INSTANTIATE_TEST_SUITE_P(Modes, Lifecycle, ::testing::ValuesIn(kModes), ModeName);

TEST_P(Lifecycle, DoneRunsLaterOnAnotherThread) {
  std::mutex mutex;
  std::vector<std::thread> workers;
  rig_.service.on_run = [&](Controller*, const Task* task, Result* result, Closure* done) {
    std::lock_guard lock(mutex);
    workers.emplace_back([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_NE(FindScope(*result), nullptr);
      Answer(*task, result);
      done->Run();
    });
  };
  EXPECT_EQ(CallFromThreads(4, 20), 0);
  {
    std::lock_guard lock(mutex);
    for (auto& worker : workers) worker.join();
  }
  rig_.ExpectAllMemoryBack();
}

// A bthread that waits goes on on whatever worker is free.
TEST_P(Lifecycle, HandlersThatMoveBetweenThreads) {
  std::atomic<int> moved{0};
  rig_.service.on_run = [&](Controller*, const Task* task, Result* result, Closure* done) {
    const pid_t before = CurrentThread();
    result->set_text("begun here, and long enough to take memory");
    auto* words = ScopeOf(*result).Create<std::vector<std::string>>();
    for (int wait = 0; wait < 3; ++wait) {
      words->push_back(task->text());
      result->add_items()->set_name("dropped, but long enough to take memory too");
      bthread_usleep(200);
    }
    if (CurrentThread() != before) moved.fetch_add(1);
    result->clear_items();
    Answer(*task, result);
    EXPECT_EQ(words->back(), task->text());
    done->Run();
  };
  for (int attempt = 0; attempt < 50 && moved == 0; ++attempt) EXPECT_EQ(CallFromThreads(6, 30), 0);
  EXPECT_GT(moved, 0);
  rig_.ExpectAllMemoryBack();
}

TEST_P(Lifecycle, ABthreadRunsDone) {
  struct Work {
    const Task* task;
    Result* result;
    Closure* done;
  };
  rig_.service.on_run = [](Controller*, const Task* task, Result* result, Closure* done) {
    bthread_t ignored;
    const auto run = [](void* argument) -> void* {
      const std::unique_ptr<Work> work(static_cast<Work*>(argument));
      bthread_usleep(100);
      Answer(*work->task, work->result);
      work->done->Run();
      return nullptr;
    };
    ASSERT_EQ(bthread_start_background(&ignored, nullptr, run, new Work{task, result, done}), 0);
  };
  EXPECT_EQ(CallFromThreads(4, 30), 0);
  rig_.ExpectAllMemoryBack();
}

// -usercode_in_pthread: parsed by a bthread; when these are busy, handled by a thread of brpc's own
// pool.
TEST_P(Lifecycle, HandlersInPthreads) {
  gflags::FlagSaver saver;
  ASSERT_FALSE(gflags::SetCommandLineOption("usercode_in_pthread", "true").empty());
  std::atomic<int> in_pthread{0};
  rig_.service.on_run = [&](Controller*, const Task* task, Result* result, Closure* done) {
    if (bthread_self() == 0) in_pthread.fetch_add(1);
    EXPECT_NE(FindScope(*result), nullptr);
    Answer(*task, result);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    done->Run();
  };
  for (int attempt = 0; attempt < 20 && in_pthread == 0; ++attempt) {
    EXPECT_EQ(CallFromThreads(16, 10), 0);
  }
  EXPECT_GT(in_pthread, 0);
  rig_.ExpectAllMemoryBack();
}

TEST_P(Lifecycle, DetachKeepsRequestAndResponseEvenBeyondTheServer) {
  std::mutex mutex;
  std::vector<std::pair<const Task*, const Result*>> messages;
  std::vector<DetachedScope> kept;
  rig_.service.on_run = [&](Controller*, const Task* task, Result* result, Closure* done) {
    Answer(*task, result);
    {
      std::lock_guard lock(mutex);
      messages.emplace_back(task, result);
      kept.push_back(ScopeOf(*result).Detach());
    }
    done->Run();
  };
  EXPECT_EQ(CallFromThreads(2, 10), 0);
  EXPECT_TRUE(Eventually([&] { return rig_.scopes_live() == 20; }));
  EXPECT_EQ(rig_.stats().scopes.scopes_detached, 20u);
  rig_.Stop();
  for (const auto& [task, result] : messages) {
    EXPECT_TRUE(MessageDifferencer::Equals(*result, Expected(*task)));
  }
  std::thread([&] { kept.clear(); }).join();
  EXPECT_EQ(rig_.pool().stats().bytes_in_use, 0u);
}

TEST_P(Lifecycle, ClientsThatGoAway) {
  std::atomic<int> begun{0};
  rig_.service.on_run = [&](Controller*, const Task* task, Result* result, Closure* done) {
    begun.fetch_add(1);
    bthread_usleep(20'000);
    Answer(*task, result);
    done->Run();
  };
  for (const char* protocol : {"baidu_std", "h2:grpc", "http"}) {
    const auto channel = rig_.Connect(protocol);
    test::brpc::Work::Stub stub(channel.get());
    // On a slow machine a request may be given up before the handler has it: more of them then.
    for (int round = 0; round < 5 || (begun == 0 && round < 500); ++round) {
      const Task task = MakeTask(200);
      Controller controller;
      controller.set_timeout_ms(2 + round / 50);
      Result result;
      stub.Run(&controller, &task, &result, nullptr);
      EXPECT_TRUE(controller.Failed());
    }
  }
  EXPECT_TRUE(Eventually([&] { return begun > 0; }));
  rig_.ExpectAllMemoryBack();
}

TEST_P(Lifecycle, HandlersThatFailOrCloseTheConnection) {
  std::atomic<int> calls{0};
  rig_.service.on_run = [&](Controller* controller, const Task* task, Result* result,
                            Closure* done) {
    Answer(*task, result);
    if (calls++ % 2 == 0) {
      controller->SetFailed(EPERM, "not today");
    } else {
      controller->CloseConnection("nor ever");
    }
    done->Run();
  };
  for (int round = 0; round < 6; ++round) EXPECT_NE(rig_.Run(MakeTask()), 0);
  rig_.ExpectAllMemoryBack();
}

TEST_P(Lifecycle, AfterTheResponseBothAreStillThere) {
  std::atomic<bool> seen{false};
  rig_.service.on_run = [&](Controller* controller, const Task* task, Result* result,
                            Closure* done) {
    Answer(*task, result);
    controller->set_after_rpc_resp_fn([&](Controller*, const google::protobuf::Message* request,
                                          const google::protobuf::Message* response) {
      EXPECT_TRUE(
          MessageDifferencer::Equals(*response, Expected(static_cast<const Task&>(*request))));
      seen = true;
    });
    done->Run();
  };
  EXPECT_EQ(rig_.Run(MakeTask()), 0);
  EXPECT_TRUE(Eventually([&] { return seen.load(); }));
}

TEST_P(Lifecycle, TheServerStopsUnderLoad) {
  std::atomic<bool> stop{false};
  std::atomic<int> answered{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      const auto channel = rig_.Connect();
      test::brpc::Work::Stub stub(channel.get());
      while (!stop) {
        const Task task = MakeTask(100);
        Controller controller;
        Result result;
        stub.Run(&controller, &task, &result, nullptr);
        if (controller.Failed()) continue;
        EXPECT_TRUE(MessageDifferencer::Equals(result, Expected(task)));
        answered.fetch_add(1);
      }
    });
  }
  EXPECT_TRUE(Eventually([&] { return answered > 50; }));
  rig_.Stop();
  stop = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(rig_.pool().stats().bytes_in_use, 0u);
}

}  // namespace
}  // namespace harena::brpc
