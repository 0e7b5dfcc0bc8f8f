// Destructors and handlers that wait, as bthreads may: others use the thread meanwhile, and they go
// on on whichever is free.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <brpc/errno.pb.h>
#include <bthread/bthread.h>
#include <bthread/mutex.h>
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>

#include "harena/adapters/brpc/test_rig.h"
#include "harena/adapters/brpc/within_budget.h"
#include "harena/base/compiler.h"
#include "harena/guard/quarantine.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/message.h"

namespace harena::brpc {
namespace {

using google::protobuf::Arena;
using google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

constexpr char kName[] = "a name that is longer than fifteen";

// Out of line: compilers ask a thread's variables once per function.
HARENA_NOINLINE long CurrentThread() {
  asm volatile("" ::: "memory");
  return ::syscall(SYS_gettid);
}

std::atomic<int> moved{0};

void WaitHere() {
  const long before = CurrentThread();
  for (int i = 0; i < 3; ++i) {
    bthread_usleep(50);
    bthread_yield();
  }
  if (CurrentThread() != before) moved.fetch_add(1);
}

struct Sleeper {
  ~Sleeper() { WaitHere(); }
};

// As one that goes back to a pool of objects.
struct Locker {
  ~Locker() {
    static bthread::Mutex mutex;
    const long before = CurrentThread();
    const std::lock_guard lock(mutex);
    if (CurrentThread() != before) moved.fetch_add(1);
    for (int i = 0; i < 2000; ++i) asm volatile("" ::: "memory");
  }
};

class Waits : public ModeTest {
 protected:
  Waits() { moved = 0; }

  // What was answered otherwise than it should be.
  int Call(int threads, int rounds) {
    std::atomic<int> wrong{0};
    std::vector<std::thread> clients;
    for (int t = 0; t < threads; ++t) {
      clients.emplace_back([&, t] {
        const auto channel = rig_.Connect();
        test::brpc::Work::Stub stub(channel.get());
        for (int round = 0; round < rounds; ++round) {
          // Small: what a parse takes for as long as it runs is not counted among a scope's blocks.
          const Task task = MakeTask(round % 10, "of thread " + std::to_string(t));
          Controller controller;
          Result result;
          stub.Run(&controller, &task, &result, nullptr);
          if (controller.Failed() || !MessageDifferencer::Equals(result, Expected(task))) ++wrong;
        }
      });
    }
    for (std::thread& client : clients) client.join();
    return wrong;
  }

  // Until bthreads have moved while they waited.
  void CallUntilMoved() {
    for (int attempt = 0; attempt < 20 && moved < 100; ++attempt) ASSERT_EQ(Call(16, 40), 0);
    EXPECT_GE(moved, 100);
  }

  static void TakePages(Result& result) {
    auto* extra = ScopeOf(result).CreateMessage<Result>();
    for (int i = 0; i < 3000; ++i) extra->add_items()->set_name(kName);
  }

  Rig rig_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Waits, ::testing::ValuesIn(kModes), ModeName);

TEST_P(Waits, ADestructorOnTheMessagesArena) {
  rig_.Start(GetParam());
  rig_.service.on_run = [](Controller*, const Task* task, Result* result, Closure* done) {
    TakePages(*result);
    auto* extra = ScopeOf(*result).CreateMessage<Result>();
    extra->GetArena()->Own(new Sleeper);
    Arena::Create<Sleeper>(extra->GetArena());
    Answer(*task, result);
    done->Run();
  };
  CallUntilMoved();
  rig_.ExpectAllMemoryBack();
}

TEST_P(Waits, ADestructorOnTheScope) {
  rig_.Start(Options{.mode = GetParam(), .quarantine_one_in = 0});
  const uint64_t before = rig_.pool().stats().blocks_freed;  // by the self-check
  rig_.service.on_run = [](Controller*, const Task* task, Result* result, Closure* done) {
    Scope& scope = ScopeOf(*result);
    scope.Create<Sleeper>();
    TakePages(*result);
    scope.Create<Sleeper>();
    for (int i = 0; i < 100; ++i) scope.Create<std::array<char, 3000>>();
    Answer(*task, result);
    done->Run();
  };
  CallUntilMoved();
  rig_.ExpectAllMemoryBack();
  // Kept messages are on blocks of their own.
  if (GetParam() != Mode::kReuse) {
    EXPECT_TRUE(Eventually([&] {
      return rig_.stats().scopes.blocks_sum == rig_.pool().stats().blocks_freed - before;
    })) << rig_.stats().scopes.blocks_sum
        << " of " << rig_.pool().stats().blocks_freed;
  }
}

// Whoever uses its memory afterwards is told whose it was.
TEST_P(Waits, ADestructorOfASampledScope) {
  std::mutex mutex;
  std::vector<const void*> ended;
  rig_.Start(Options{.mode = GetParam(), .quarantine_one_in = 3});
  rig_.service.on_run = [&](Controller*, const Task* task, Result* result, Closure* done) {
    Scope& scope = ScopeOf(*result);
    scope.Create<Sleeper>();
    TakePages(*result);
    if (scope.sampled()) {
      const std::lock_guard lock(mutex);
      ended.push_back(scope.Create<int>());
    }
    Answer(*task, result);
    done->Run();
  };
  CallUntilMoved();
  rig_.ExpectAllMemoryBack();
  EXPECT_TRUE(Eventually([&] { return guard::QuarantineStatsOf(rig_.pool()).bytes_in_use == 0; }));
  int explained = 0;
  for (const void* place : ended) {
    const FaultyAddress found = ExplainAddress(place);
    if (found.kind != FaultyAddress::Kind::kEnded) continue;  // others came after it
    EXPECT_STREQ(found.end->name.data(), kRun);
    ++explained;
  }
  EXPECT_GT(explained, 0);
}

TEST_P(Waits, ADestructorForALock) {
  rig_.Start(GetParam());
  rig_.service.on_run = [](Controller*, const Task* task, Result* result, Closure* done) {
    TakePages(*result);
    auto* extra = ScopeOf(*result).CreateMessage<Result>();
    for (int i = 0; i < 20; ++i) Arena::Create<Locker>(extra->GetArena());
    Answer(*task, result);
    done->Run();
  };
  CallUntilMoved();
  rig_.ExpectAllMemoryBack();
}

class LimitedWaits : public Waits {};
// The others refuse to be given a limit.
INSTANTIATE_TEST_SUITE_P(Modes, LimitedWaits,
                         ::testing::Values(Mode::kArena, Mode::kPages, Mode::kCodec), ModeName);

// The limit goes with the bthread: it holds after a wait, and for nobody else on the thread.
TEST_P(LimitedWaits, AHandlerWithinItsBudget) {
  rig_.Start(Options{.mode = GetParam(), .request_bytes_max = kMiB});
  constexpr int64_t kTooMany = 1'000'000;
  // By the number of the task: 0 stays within its budget, 1 goes over it after the wait, and 2, of
  // which nobody says that it is held to anything, must not be either.
  rig_.service.on_run = [](Controller* controller, const Task* task, Result* result,
                           Closure* done) {
    Scope& scope = ScopeOf(*result);
    if (task->number() == 2) {
      WaitHere();
      for (int i = 0; i < 100'000; ++i) result->add_items();
      result->clear_items();
    } else {
      WithinBudget(*controller, scope, [&] {
        result->set_text("re: ");
        WaitHere();
        const int64_t items = task->number() == 1 ? kTooMany : 100;
        for (int64_t i = 0; i < items; ++i) result->add_items()->add_scores(i);
        WaitHere();
      });
    }
    done->Run();
  };
  std::atomic<int> wrong{0};
  for (int attempt = 0; attempt < 20 && moved < 100; ++attempt) {
    std::vector<std::thread> clients;
    for (int t = 0; t < 12; ++t) {
      clients.emplace_back([&, t] {
        const auto channel = rig_.Connect();
        test::brpc::Work::Stub stub(channel.get());
        Task task;
        task.set_number(t % 3);
        for (int round = 0; round < 20; ++round) {
          Controller controller;
          Result result;
          stub.Run(&controller, &task, &result, nullptr);
          if (controller.ErrorCode() != (t % 3 == 1 ? ::brpc::ELIMIT : 0)) ++wrong;
        }
      });
    }
    for (std::thread& client : clients) client.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(moved, 100);
  rig_.ExpectAllMemoryBack();
}

// Frames nest, also across an exception, and nothing of them stays with the bthread.
TEST_P(Waits, BudgetsWithinBudgets) {
  rig_.Start(GetParam());
  std::string in_outer;
  rig_.service.on_run = [&](Controller* controller, const Task* task, Result* result,
                            Closure* done) {
    Scope& scope = ScopeOf(*result);
    Scope small({.request_bytes_max = kMiB, .page_pool = &rig_.pool()});
    EXPECT_TRUE(WithinBudget(*controller, scope, [&] {
      Controller inner;
      EXPECT_FALSE(WithinBudget(inner, small, [&] {
        auto* extra = small.CreateMessage<Result>();
        for (;;) extra->add_items();
      }));
      in_outer = inner.ErrorText();
      EXPECT_EQ(pb::BudgetFrame::Current(), &scope.budget());
    }));
    EXPECT_EQ(pb::BudgetFrame::Current(), nullptr);
    Answer(*task, result);
    done->Run();
  };
  EXPECT_EQ(Call(1, 3), 0);
  EXPECT_THAT(in_outer, HasSubstr("request_bytes_max is 1048576"));
}

// Several bthreads fill parts of one response.
TEST_P(Waits, BthreadsThatShareAResponse) {
  struct Part {
    const Task::Item* from;
    Task::Item* to;
    static void* Fill(void* argument) {
      const auto& [from, to] = *static_cast<Part*>(argument);
      to->set_name(from->name());
      bthread_usleep(50);
      for (const auto score : from->scores()) to->add_scores(score);
      bthread_yield();
      *to->mutable_labels() = from->labels();
      return nullptr;
    }
  };
  rig_.Start(GetParam());
  rig_.service.on_run = [](Controller*, const Task* task, Result* result, Closure* done) {
    result->set_text("re: " + task->text());
    result->set_number(task->number() + 1);
    result->set_blob(task->blob());
    std::vector<Part> parts;
    for (const auto& item : task->items()) parts.push_back({&item, result->add_items()});
    std::vector<bthread_t> ids(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      EXPECT_EQ(bthread_start_background(&ids[i], nullptr, &Part::Fill, &parts[i]), 0);
    }
    for (const bthread_t id : ids) bthread_join(id, nullptr);
    done->Run();
  };
  EXPECT_EQ(Call(6, 60), 0);
  rig_.ExpectAllMemoryBack();
}

// A handler that calls on, its further messages on the request's scope, while modes change.
TEST_P(Waits, FansOutWhileModesChange) {
  struct Next : Closure {
    Next(Result& to, Closure& after)
        : got(ScopeOf(to).CreateMessage<Result>()), to(to), after(after) {}
    void Run() override {
      to.CopyFrom(*got);
      after.Run();
      delete this;
    }
    Controller controller;
    Result* got;
    Result& to;
    Closure& after;
  };
  Rig back;
  back.Start(GetParam());
  rig_.Start(GetParam());
  const auto channel = back.Connect();
  rig_.service.on_run = [&](Controller*, const Task* task, Result* result, Closure* done) {
    auto* next = new Next(*result, *done);
    test::brpc::Work::Stub(channel.get()).Run(&next->controller, task, next->got, next);
  };
  std::atomic<bool> stop{false};
  std::thread switcher([&] {
    for (size_t i = 0; !stop; ++i) {
      EXPECT_EQ(rig_.factory().SetMode(kModes[i % std::size(kModes)]), std::nullopt);
      EXPECT_EQ(back.factory().SetMode(kModes[i / 2 % std::size(kModes)]), std::nullopt);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_EQ(Call(8, 50), 0);
  stop = true;
  switcher.join();
  rig_.ExpectAllMemoryBack();
  back.ExpectAllMemoryBack();
}

}  // namespace
}  // namespace harena::brpc
