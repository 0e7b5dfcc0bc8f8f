// Limits over real calls: who crosses one is told so, and nobody else notices.
#include <array>
#include <latch>
#include <new>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"
#include "harena/base/poison.h"
#include "harena/base/test_process_memory.h"
#include "harena/mem/failing_page_source.h"
#include "harena/pb/arena/message.h"

namespace harena::grpc {
namespace {

using ::grpc::StatusCode;
using ::testing::HasSubstr;

#if defined(__SANITIZE_THREAD__) || HARENA_ASAN
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

constexpr Mode kLimitedModes[] = {Mode::kArena, Mode::kPages, Mode::kReuse};

// The process's limit is everybody's: back to unlimited, whatever happens in a test.
class ProcessLimit {
 public:
  explicit ProcessLimit(size_t bytes) { ProcessBudget().set_bytes_max(bytes); }
  ~ProcessLimit() { ProcessBudget().set_bytes_max(kUnlimitedBytes); }
};

class BudgetTest : public ModeTest {};
INSTANTIATE_TEST_SUITE_P(Modes, BudgetTest, ::testing::ValuesIn(kLimitedModes), ModeName);

void ExpectRefused(const ::grpc::Status& status, const std::string& limit, size_t bytes_max) {
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr(kRun));
  EXPECT_THAT(status.error_message(),
              HasSubstr(limit + " is " + std::to_string(bytes_max) + " bytes"));
  EXPECT_THAT(status.error_message(), HasSubstr("more were wanted"));
}

TEST_P(BudgetTest, TheBombIsRefusedAndTheNextCallServed) {
  Rig<> rig;
  rig.Start(Options{.mode = GetParam(), .request_bytes_max = 8 * kMiB});
  const std::string bomb = BombWire();
  for (uint64_t round = 1; round <= 3; ++round) {
    ExpectRefused(rig.RunRaw(bomb), "request_bytes_max", 8 * kMiB);
    EXPECT_EQ(rig.stats().refused, round);
    Result result;
    EXPECT_TRUE(rig.Run(MakeTask(), &result).ok());
    EXPECT_EQ(result.number(), 42);
    EXPECT_EQ(rig.stats().refused, round);
  }
  EXPECT_EQ(rig.service.calls, 3) << "the handler never sees a bomb";
  EXPECT_EQ(rig.stats().malformed, 0u);
  rig.ExpectAllMemoryBack();
}

TEST_P(BudgetTest, TheBombTakesItsBudgetAndAPageOfTheProcess) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory hides ours";
  constexpr size_t kBudgetBytes = 16 * kMiB;
  // What gRPC itself holds of a 200 KB request, client and server in one process, and what malloc
  // rounds up. Without a limit the bomb takes 17 times the budget.
  constexpr size_t kGrpcBytes = 2 * kMiB;
  Rig<> rig;
  rig.Start(Options{.mode = GetParam(), .request_bytes_max = kBudgetBytes});
  const std::string bomb = BombWire();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(rig.Run(MakeTask()).ok());
  rig.pool().Trim();
  if (!ForgetPeak()) GTEST_SKIP() << "this kernel does not reset VmHWM";
  const size_t before = StatusBytes("VmRSS");
  const auto peak_bytes = [&] { return StatusBytes("VmHWM") - before; };
  const auto throw_bomb = [&] {
    EXPECT_EQ(rig.RunRaw(bomb).error_code(), StatusCode::RESOURCE_EXHAUSTED);
    // One after the other, so that two bombs never share the peak.
    EXPECT_TRUE(Eventually([&] { return rig.scopes_live() == 0; }));
  };
  throw_bomb();
  EXPECT_LE(peak_bytes(), kBudgetBytes + rig.pool().options().page_bytes + kGrpcBytes);
  // Many of them, on whichever thread, add only what the pool's thread caches and malloc's arenas
  // keep free.
  for (int i = 0; i < 40; ++i) throw_bomb();
  EXPECT_LE(peak_bytes(), 3 * kBudgetBytes);
  EXPECT_TRUE(rig.Run(MakeTask()).ok());
}

// The first block is charged in full and may be all of the limit.
TEST_P(BudgetTest, ASmallLimitStillServesSmallRequests) {
  const size_t page_bytes = PagePoolOptions().page_bytes;
  for (const size_t bytes_max : {page_bytes, 2 * page_bytes, 4 * page_bytes}) {
    if (GetParam() == Mode::kReuse && bytes_max == page_bytes) continue;  // refused by Validate()
    Rig<> rig;
    rig.Start(Options{.mode = GetParam(), .request_bytes_max = bytes_max});
    const ::grpc::Status status = rig.Run(MakeTask(1));
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
}

// Requests up to the limit must not teach the method a first block that is all
// of it, or the next one has nothing left.
TEST_P(BudgetTest, RefusedRequestsDoNotMakeTheFirstBlockTheWholeLimit) {
  for (const size_t pages : {2, 4}) {
    Rig<> rig;
    rig.service.on_run = [](::grpc::CallbackServerContext* context, const Task*,
                            Result*) -> ::grpc::ServerUnaryReactor* {
      for (;;) ScopeOf(*context).Create<std::array<char, 1000>>();
    };
    rig.Start(
        Options{.mode = GetParam(), .request_bytes_max = pages * PagePoolOptions().page_bytes});
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(rig.Run(MakeTask(1)).error_code(), StatusCode::RESOURCE_EXHAUSTED);
    }
    EXPECT_TRUE(Eventually([&] { return rig.scopes_live() == 0; }));
    rig.service.on_run = HookedService().on_run;
    const ::grpc::Status status = rig.Run(MakeTask(1));
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
}

TEST_P(BudgetTest, AHandlerThatBuildsTooMuchIsRefused) {
  Rig<> rig;
  rig.service.on_run = [](::grpc::CallbackServerContext* context, const Task* task,
                          Result* result) -> ::grpc::ServerUnaryReactor* {
    auto* reactor = context->DefaultReactor();
    if (task->number() == 1) {
      for (;;) result->add_items()->add_scores(7);
    }
    if (task->number() == 2) {
      for (;;) ScopeOf(*context).Create<std::array<char, 1000>>();
    }
    if (task->number() == 3) {
      for (;;) ScopeOf(*context).CreateMessage<Task>();
    }
    Answer(*task, result);
    reactor->Finish(::grpc::Status::OK);
    return reactor;
  };
  rig.Start(Options{.mode = GetParam(), .request_bytes_max = 2 * kMiB});
  for (int64_t number = 1; number <= 3; ++number) {
    Task task = MakeTask();
    task.set_number(number);
    ExpectRefused(rig.Run(task), "request_bytes_max", 2 * kMiB);
    EXPECT_TRUE(rig.Run(MakeTask()).ok());
  }
  EXPECT_EQ(rig.stats().refused, 3u);
  rig.ExpectAllMemoryBack();
}

TEST_P(BudgetTest, AHandlerMaySurviveARefusal) {
  Rig<> rig;
  rig.service.on_run = [](::grpc::CallbackServerContext* context, const Task* task,
                          Result* result) -> ::grpc::ServerUnaryReactor* {
    try {
      for (;;) ScopeOf(*context).Create<std::array<char, 1000>>();
    } catch (const std::bad_alloc&) {
      result->set_text("did without");
    }
    result->set_number(task->number());
    return FinishNow();
  };
  rig.Start(Options{.mode = GetParam(), .request_bytes_max = kMiB});
  Result result;
  EXPECT_TRUE(rig.Run(MakeTask(), &result).ok());
  EXPECT_EQ(result.text(), "did without");
  EXPECT_EQ(rig.stats().refused, 0u);
  rig.ExpectAllMemoryBack();
}

class ProcessBudgetTest : public ModeTest {};
INSTANTIATE_TEST_SUITE_P(Modes, ProcessBudgetTest, ::testing::ValuesIn(kModes), ModeName);

// Also in mode heap: there the messages are not counted, what the handler takes of its scope is.
TEST_P(ProcessBudgetTest, TheNewestOfManyIsRefusedAndTheOthersAreNot) {
  constexpr int kCalls = 16;
  Rig<> rig;
  std::atomic<int> holding{0};
  std::binary_semaphore go_on{0};
  std::vector<std::thread> finishers;
  std::mutex mutex;
  rig.service.on_run = [&](::grpc::CallbackServerContext* context, const Task*,
                           Result* result) -> ::grpc::ServerUnaryReactor* {
    Scope& scope = ScopeOf(*context);
    for (int i = 0; i < 16; ++i) scope.Create<std::array<char, 128 << 10>>();
    auto* reactor = new TestReactor;
    holding.fetch_add(1);
    std::lock_guard lock(mutex);
    finishers.emplace_back([&, reactor, result] {
      go_on.acquire();
      go_on.release();
      result->set_number(1);
      reactor->Finish(::grpc::Status::OK);
    });
    return reactor;
  };
  rig.Start(GetParam());
  std::atomic<int> ok{0}, refused{0};
  {
    // Two megabytes each: room for some six.
    const ProcessLimit limit(ProcessBudget().bytes_used() + 14 * kMiB);
    const size_t bytes_max = ProcessBudget().bytes_max();
    std::vector<std::thread> clients;
    for (int i = 0; i < kCalls; ++i) {
      clients.emplace_back([&] {
        const ::grpc::Status status = rig.Run(MakeTask());
        if (status.ok()) {
          ok.fetch_add(1);
        } else {
          ExpectRefused(status, "process_bytes_max", bytes_max);
          refused.fetch_add(1);
        }
      });
    }
    EXPECT_TRUE(Eventually([&] { return holding + refused == kCalls; }));
    EXPECT_LE(ProcessBudget().bytes_used(), bytes_max);
    EXPECT_GE(holding, 3);
    EXPECT_GE(refused, 3);
    // Those who came too late are gone with all they had; the others hold theirs still.
    EXPECT_TRUE(Eventually([&] { return rig.scopes_live() == static_cast<uint64_t>(holding); }));
    go_on.release();
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(ok, holding);
    rig.ExpectAllMemoryBack();
    EXPECT_TRUE(rig.Run(MakeTask()).ok()) << "there is room again";
  }
  for (std::thread& finisher : finishers) finisher.join();
  EXPECT_EQ(rig.stats().refused, static_cast<uint64_t>(refused));
  EXPECT_GE(ProcessBudget().refusals(), static_cast<uint64_t>(refused));
  rig.ExpectAllMemoryBack();
}

TEST_P(ProcessBudgetTest, WithoutEvenAFirstPageACallIsRefused) {
  Rig<> rig;
  rig.Start(GetParam());
  {
    const ProcessLimit limit(1);
    ExpectRefused(rig.Run(MakeTask()), "process_bytes_max", 1);
  }
  EXPECT_EQ(rig.stats().refused, 1u);
  EXPECT_EQ(rig.stats().scopes.scopes_refused, 1u);
  EXPECT_TRUE(rig.Run(MakeTask()).ok());
  EXPECT_EQ(rig.service.calls, 1);
  rig.ExpectAllMemoryBack();
}

TEST_P(ProcessBudgetTest, ASystemWithoutMemoryIsARefusalToo) {
  FailingPageSource source;
  Rig<> rig(source);
  // The self-check would leave a page in the pool.
  rig.Start(ServerOptions{.defaults = {.mode = GetParam()}, .self_check = false});
  source.FailAfter(0);
  const ::grpc::Status status = rig.Run(MakeTask());
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("out of memory"));
  source.Heal();
  EXPECT_TRUE(rig.Run(MakeTask()).ok());
  EXPECT_EQ(rig.stats().refused, 1u);
  rig.ExpectAllMemoryBack();
}

TEST(RequestBytesMaxTest, ChangesWhileCallsAreRunning) {
  Rig<> rig;
  rig.Start(Options{.request_bytes_max = 8 * kMiB});
  std::atomic<bool> stop{false};
  std::atomic<int> refused{0}, served{0}, other{0};
  std::vector<std::thread> clients;
  Task large;
  for (int i = 0; i < 300; ++i) large.add_bomb();  // three quarters of a megabyte
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      while (!stop) {
        const ::grpc::Status status = rig.Run(large);
        const bool is_refusal = status.error_code() == StatusCode::RESOURCE_EXHAUSTED;
        (status.ok() ? served : is_refusal ? refused : other).fetch_add(1);
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(rig.scoped().SetRequestBytesMax(kRun, 256 << 10), std::nullopt);
    const int refused_before = refused;
    EXPECT_TRUE(Eventually([&] { return refused > refused_before + 5; }));
    ASSERT_EQ(rig.scoped().SetRequestBytesMax(8 * kMiB), std::nullopt);
    const int served_before = served;
    EXPECT_TRUE(Eventually([&] { return served > served_before + 5; }));
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(other, 0);
  EXPECT_EQ(rig.stats().refused, static_cast<uint64_t>(refused));
  rig.ExpectAllMemoryBack();
}

}  // namespace
}  // namespace harena::grpc
