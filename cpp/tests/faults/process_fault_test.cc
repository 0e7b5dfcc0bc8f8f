// What happens to a serving process: forks, signals, threads that end, and its own end.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/background_decay.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/arena/string_buffers.h"
#include "harena/test/shapes.pb.h"
#include "tests/faults/one_request.h"
#include "tests/safety_count.h"

namespace harena::faults {
namespace {

using std::chrono::milliseconds;

// A pool whose every path runs all the time.
PagePoolOptions RestlessOptions() {
  PagePoolOptions options;
  options.page_bytes = 4 * kKiB;
  options.thread_cache_bytes_max = 64 * kKiB;
  options.retained_bytes_max = 128 * kKiB;
  options.decay_after = milliseconds(2);
  options.budget = nullptr;
  return options;
}

// Threads that serve until told to stop, and what became of their requests.
class Traffic {
 public:
  Traffic(PagePool& pool, Mode mode, int threads,
          size_t quarantine_one_in = Options().quarantine_one_in)
      : echo_(pool, mode, kUnlimitedBytes, quarantine_one_in), wire_(ShapesWire(20)) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (!stop_.load()) (echo_.Serve(wire_) == Outcome::kServed ? served_ : failed_)++;
      });
    }
  }
  void Stop() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  ~Traffic() { Stop(); }

  uint64_t served() const { return served_.load(); }
  uint64_t failed() const { return failed_.load(); }

 private:
  Echo echo_;
  const std::string wire_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> served_{0};
  std::atomic<uint64_t> failed_{0};
  std::vector<std::thread> threads_;
};

// What a child of a serving process may do: go on with its parent's pool, alone.
[[noreturn]] void BeForked(PagePool& pool, Mode mode, const std::string& wire, bool destroy_pools,
                           size_t quarantine_one_in) {
  alarm(240);  // what another thread held at the fork would be held for ever
  {
    Echo echo(pool, mode, kUnlimitedBytes, quarantine_one_in);
    for (int i = 0; i < 3; ++i) {
      if (echo.Serve(wire) != Outcome::kServed) _exit(2);
    }
  }
  pool.Trim();
  pb::TrimStringBuffers();
  static_cast<void>(pool.stats());
  if (destroy_pools) pool.~PagePool();
  // With the destructors of this thread's objects and of static ones.
  std::exit(0);
}

void ForkWhileServing(bool destroy_pools, size_t quarantine_one_in, Mode mode = Mode::kPages) {
  auto pool = std::make_unique<PagePool>(RestlessOptions());
  const std::string wire = ShapesWire(20);
  uint64_t forks = 0;
  uint64_t lost = 0;
  {
    // protobuf makes its descriptors as they are first asked for. A child that was forked in the
    // middle of that would wait for them for ever.
    Echo first(*pool, mode, kUnlimitedBytes, 0);
    ASSERT_EQ(first.Serve(wire), Outcome::kServed);
  }
  {
    Traffic traffic(*pool, mode, 2, quarantine_one_in);
    std::atomic<bool> stop{false};
    // Holds the registry's and the caches' locks, or those of string buffers, most of the time.
    std::thread asking([&] {
      while (!stop.load()) {
        static_cast<void>(pool->stats());
        pool->Trim();
        for (int i = 0; mode == Mode::kCodec && i < 100; ++i) pb::TrimStringBuffers();
      }
    });
    for (; forks < 60; ++forks) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) BeForked(*pool, mode, wire, destroy_pools, quarantine_one_in);
      int status = 0;
      while (waitpid(child, &status, 0) < 0) {
      }
      EXPECT_EQ(status, 0) << "fork " << forks
                           << (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
                                   ? ": the child waits for a lock"
                                   : "");
      lost += status != 0;
      if (lost == 3) break;
    }
    stop.store(true);
    asking.join();
    traffic.Stop();
    EXPECT_GT(traffic.served(), 0u);
    EXPECT_EQ(traffic.failed(), 0u);
    SafetyCount("requests_served", traffic.served());
  }
  EXPECT_EQ(pool->stats().bytes_in_use, 0u);
  SafetyCount("faults_injected", forks);
  SafetyCount("processes_lost", lost);
}

TEST(Fork, ChildOfAServingProcessUsesThePoolAndExits) { ForkWhileServing(false, 0); }
TEST(Fork, ChildOfAServingProcessDestroysThePool) { ForkWhileServing(true, 0); }
// Quarantines have locks of their own.
TEST(Fork, ChildOfAServingProcessSamplesScopes) { ForkWhileServing(false, 2); }
TEST(Fork, ChildOfAServingProcessDestroysThePoolAndItsQuarantine) { ForkWhileServing(true, 2); }
// And what the codec's threads share.
TEST(Fork, ChildOfAServingProcessUsesTheCodec) { ForkWhileServing(false, 0, Mode::kCodec); }

std::atomic<uint64_t> signals_taken{0};

TEST(Signals, AStormOfSignalsWhileServing) {
  struct sigaction action {};
  action.sa_handler = [](int) { signals_taken.fetch_add(1, std::memory_order_relaxed); };
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGPROF, &action, &before),
            0);  // no SA_RESTART: system calls are interrupted
  const itimerval storm{{0, 500}, {0, 500}};
  ASSERT_EQ(setitimer(ITIMER_PROF, &storm, nullptr), 0);
  PagePool pool(RestlessOptions());
  uint64_t served = 0;
  for (const Mode mode : kModes) {
    Traffic traffic(pool, mode, 2);
    std::this_thread::sleep_for(milliseconds(200));
    // A sleep is interrupted too: what counts is that both happened.
    for (int i = 0; i < 1000 && (traffic.served() < 10 || signals_taken.load() < 5); ++i) {
      usleep(10'000);
    }
    traffic.Stop();
    EXPECT_EQ(traffic.failed(), 0u);
    served += traffic.served();
  }
  const itimerval quiet{};
  setitimer(ITIMER_PROF, &quiet, nullptr);
  sigaction(SIGPROF, &before, nullptr);
  EXPECT_GT(signals_taken.load(), 4u);
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  SafetyCount("faults_injected", signals_taken.load());
  SafetyCount("requests_served", served);
}

TEST(ThreadExit, CachedPagesOfEndedThreadsStayWithinTheBound) {
  PagePoolOptions options = RestlessOptions();
  options.decay_after = milliseconds(0);
  PagePool pool(options);
  uint64_t threads = 0;
  for (const Mode mode : kModes) {
    for (int i = 0; i < 10; ++i, ++threads) {
      Traffic traffic(pool, mode, 2);
      while (traffic.served() < 2) std::this_thread::yield();
      traffic.Stop();
      const PagePoolStats stats = pool.stats();
      // This thread's own at most: it made and ended the traffic.
      ASSERT_LE(stats.bytes_thread_cached, options.thread_cache_bytes_max);
      ASSERT_LE(stats.bytes_retained, options.retained_bytes_max);
    }
  }
  EXPECT_TRUE(AddsUp(pool.stats()));
  SafetyCount("faults_injected", 2 * threads);
}

// A clock that jumps by hours in both directions: nothing is refused, lost or kept beyond its
// bound.
TEST(Clock, JumpsWhileServing) {
  PagePoolOptions options = RestlessOptions();
  options.decay_after = milliseconds(1000);
  options.now_ms = &TestNowMs;
  PagePool pool(options);
  uint64_t jumps = 0;
  uint64_t served = 0;
  for (const Mode mode : {Mode::kPages, Mode::kReuse, Mode::kCodec}) {
    Traffic traffic(pool, mode, 2);
    uint64_t seed = 88172645463325252;
    for (int i = 0; i < 40; ++i, ++jumps) {
      seed ^= seed << 13;
      seed ^= seed >> 7;
      seed ^= seed << 17;
      test_now_ms.store(seed % 100'000'000);
      pool.Decay();
      ASSERT_LE(pool.stats().bytes_retained, options.retained_bytes_max + 64 * kKiB);
      std::this_thread::yield();
    }
    while (traffic.served() < 10) std::this_thread::yield();
    traffic.Stop();
    EXPECT_EQ(traffic.failed(), 0u);
    served += traffic.served();
  }
  pool.Trim();
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  EXPECT_EQ(pool.stats().bytes_mapped, 0u);
  SafetyCount("faults_injected", jumps);
  SafetyCount("requests_served", served);
}

using harena::test::Shapes;

// All that a careless program may leave to be destroyed at its end, in both orders.
[[noreturn]] void ExitWithEverythingStatic(bool pool_first) {
  static std::optional<PagePool> early_pool;
  if (pool_first) early_pool.emplace(RestlessOptions());
  static Scope scope;
  static DetachedScope detached = scope.Detach();
  static ScopePool scopes;
  static std::optional<Scope> pooled = scopes.TryAcquire();
  static Shapes* const message = pooled->CreateMessage<Shapes>();
  message->set_text("a text that is too long to be held inside of a string object");
  static Shapes on_heap = *message;
  static Echo echo(PagePool::Default(), Mode::kReuse);
  if (echo.Serve(ShapesWire(3)) != Outcome::kServed) std::_Exit(2);
  thread_local Scope of_thread;
  of_thread.CreateMessage<Shapes>()->set_text("another text that is too long for a string object");
  static BackgroundDecay background(milliseconds(1), [] { PagePool::Default().Decay(); });
  if (pool_first) {
    static Scope on_early_pool({.page_pool = &*early_pool});
    on_early_pool.CreateMessage<Shapes>()->set_text("on a pool that ends after the scope");
  }
  // A thread that still serves, on the pool that never ends.
  std::thread([] {
    static auto& own = *new Echo(PagePool::Default(), Mode::kPages);
    for (const std::string wire = ShapesWire(3);;) own.Serve(wire);
  }).detach();
  std::this_thread::sleep_for(milliseconds(20));
  std::exit(0);
}

TEST(ProcessExitDeathTest, StaticScopesMessagesAndPools) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(ExitWithEverythingStatic(false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ExitWithEverythingStatic(true), testing::ExitedWithCode(0), "");
  SafetyCount("faults_injected", 2);
}

}  // namespace
}  // namespace harena::faults
