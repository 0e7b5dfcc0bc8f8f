// Races by name, for ThreadSanitizer; each runs for a moment in every build.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/scope/scope_pool.h"

namespace harena {
namespace {

constexpr auto kDuration = std::chrono::milliseconds(500);

class Deadline {
 public:
  bool Passed() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kDuration;
};

TEST(ScopeRace, ScopeDetachedWhilePoolDestroyed) {
  PagePool pool(TestOptions());
  for (const Deadline deadline; !deadline.Passed();) {
    auto scopes = std::make_unique<ScopePool>(Options{.page_pool = &pool});
    std::vector<DetachedScope> detached;
    for (int i = 0; i < 4; ++i) {
      Scope scope = scopes->Acquire();
      scope.Create<std::string>(100, 'x');
      detached.push_back(scope.Detach());
    }
    std::thread ending([&] { detached.clear(); });
    // A scope that is still running detaches while the pool goes away.
    std::thread detaching([scope = scopes->Acquire()]() mutable {
      DetachedScope last = scope.Detach();
      { const Scope gone = std::move(scope); }
    });
    scopes.reset();
    ending.join();
    detaching.join();
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(ScopeRace, LastTwoOwnersLetGoAtOnce) {
  PagePool pool(TestOptions());
  std::atomic<int> ended{0};
  struct Ending {
    explicit Ending(std::atomic<int>& count) : count(&count) {}
    ~Ending() { count->fetch_add(1); }
    std::atomic<int>* count;
  };
  int made = 0;
  for (const Deadline deadline; !deadline.Passed(); ++made) {
    Scope scope({.page_pool = &pool});
    scope.Create<Ending>(ended);
    DetachedScope owner = scope.Detach();
    std::atomic<int> ready{0};
    std::thread other([&] {
      ready.fetch_add(1);
      while (ready.load() != 2) {
      }
      owner.Reset();
    });
    ready.fetch_add(1);
    while (ready.load() != 2) {
    }
    { const Scope gone = std::move(scope); }
    other.join();
    ASSERT_EQ(ended.load(), made + 1);
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(ScopeRace, ModeAndLimitChangedDuringTraffic) {
  PagePool pool(TestOptions());
  ScopePool scopes({.page_pool = &pool});
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) {
        Scope scope = scopes.Acquire();
        const size_t limit = scope.budget().bytes_max();
        EXPECT_TRUE(limit == kMiB || limit == kUnlimitedBytes);
        static_cast<void>(scope.arena().TryAllocate(100 * kKiB));
      }
    });
  }
  for (const Deadline deadline; !deadline.Passed();) {
    static_cast<void>(scopes.SetRequestBytesMax(kMiB));
    EXPECT_TRUE(scopes.SetMode(Mode::kHeap));  // does not go together with a limit
    static_cast<void>(scopes.SetRequestBytesMax(kUnlimitedBytes));
    static_cast<void>(scopes.SetMode(Mode::kReuse));
    const ScopePoolStats stats = scopes.stats();
    EXPECT_GE(stats.scopes_made, stats.scopes_ended);
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scopes.stats().scopes_live(), 0u);
}

}  // namespace
}  // namespace harena
