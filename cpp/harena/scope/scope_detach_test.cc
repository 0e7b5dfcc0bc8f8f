// Memory that outlives the request it was made for.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/scope/scope_pool.h"

namespace harena {
namespace {

class DetachTest : public testing::Test {
 protected:
  ~DetachTest() override { EXPECT_EQ(pool_.stats().bytes_in_use, 0u); }

  PagePool pool_{TestOptions()};
};

TEST_F(DetachTest, MemoryOutlivesTheScope) {
  auto alive = std::make_shared<int>(1);
  const std::weak_ptr<int> watcher = alive;
  std::optional<Scope> scope(ScopeOptions{.page_pool = &pool_});
  scope->KeepAlive(std::move(alive));
  auto* text = scope->Create<std::pmr::string>(std::string(10'000, 'x'), scope->resource());
  DetachedScope detached = scope->Detach();
  const size_t used_bytes = scope->bytes_used();
  scope.reset();
  EXPECT_EQ(std::string_view(*text), std::string(10'000, 'x'));
  EXPECT_FALSE(watcher.expired());
  EXPECT_EQ(detached.bytes_used(), used_bytes);
  EXPECT_EQ(pool_.stats().bytes_in_use, 64 * kKiB);
  detached.Reset();
  EXPECT_TRUE(watcher.expired());
  EXPECT_EQ(pool_.stats().bytes_in_use, 0u);
  EXPECT_FALSE(detached);
  EXPECT_EQ(detached.bytes_used(), 0u);
  detached.Reset();  // nothing left to let go of
}

TEST_F(DetachTest, TheScopeMayOutliveTheDetachedOwner) {
  Scope scope({.page_pool = &pool_});
  { const DetachedScope detached = scope.Detach(); }
  EXPECT_NE(scope.arena().TryAllocate(100), nullptr);
  EXPECT_EQ(pool_.stats().bytes_in_use, 64 * kKiB);
}

TEST_F(DetachTest, TheLastOfSeveralOwnersEndsIt) {
  auto alive = std::make_shared<int>(1);
  const std::weak_ptr<int> watcher = alive;
  std::vector<DetachedScope> owners;
  {
    Scope scope({.page_pool = &pool_});
    scope.KeepAlive(std::move(alive));
    for (int i = 0; i < 5; ++i) owners.push_back(scope.Detach());
  }
  while (!owners.empty()) {
    EXPECT_FALSE(watcher.expired());
    owners.pop_back();
  }
  EXPECT_TRUE(watcher.expired());
}

TEST_F(DetachTest, OwnershipMoves) {
  Scope scope({.page_pool = &pool_});
  DetachedScope first = scope.Detach();
  DetachedScope second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_TRUE(second);
  DetachedScope third;
  EXPECT_FALSE(third);
  third = std::move(second);
  auto& same = third;  // compilers warn of the plain form
  third = std::move(same);
  EXPECT_TRUE(third);
}

TEST_F(DetachTest, LiveOnesAndTheOldestAreKnown) {
  ScopePool scopes({.page_pool = &pool_});
  const auto detach = [&] { return scopes.Acquire().Detach(); };
  EXPECT_EQ(scopes.stats().oldest_detached_ms, 0u);
  DetachedScope oldest = detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  DetachedScope middle = detach();
  DetachedScope youngest = detach();
  EXPECT_EQ(scopes.stats().scopes_detached_live, 3u);
  EXPECT_GE(scopes.stats().oldest_detached_ms, 50u);
  middle.Reset();
  EXPECT_GE(scopes.stats().oldest_detached_ms, 50u);
  oldest.Reset();
  EXPECT_EQ(scopes.stats().scopes_detached_live, 1u);
  youngest.Reset();
  const ScopePoolStats stats = scopes.stats();
  EXPECT_EQ(stats.scopes_detached, 3u);
  EXPECT_EQ(stats.scopes_detached_live, 0u);
  EXPECT_EQ(stats.oldest_detached_ms, 0u);
}

TEST_F(DetachTest, AScopeDetachedTwiceIsOneUntilItsLastOwnerEnds) {
  ScopePool scopes({.page_pool = &pool_});
  std::optional<Scope> scope = scopes.Acquire();
  DetachedScope first = scope->Detach();
  DetachedScope second = scope->Detach();
  scope.reset();
  first.Reset();
  EXPECT_EQ(scopes.stats().scopes_detached_live, 1u);
  second.Reset();
  EXPECT_EQ(scopes.stats().scopes_detached_live, 0u);
}

TEST_F(DetachTest, OutlivesTheScopePool) {
  DetachedScope detached;
  std::string* text = nullptr;
  {
    ScopePool scopes({.page_pool = &pool_});
    Scope scope = scopes.Acquire();
    text = scope.Create<std::string>(1000, 'x');
    detached = scope.Detach();
    DetachedScope again = scope.Detach();
    EXPECT_EQ(scopes.stats().scopes_detached, 1u);  // the scope, however many owners it has
  }
  EXPECT_EQ(*text, std::string(1000, 'x'));
}

TEST_F(DetachTest, TheScopeItselfMayOutliveTheScopePool) {
  auto scopes = std::make_unique<ScopePool>(Options{.page_pool = &pool_});
  Scope scope = scopes->Acquire();
  scopes.reset();
  EXPECT_NE(scope.arena().TryAllocate(100 * kKiB), nullptr);
}

TEST_F(DetachTest, EndsOnAnotherThread) {
  ScopePool scopes({.page_pool = &pool_});
  auto alive = std::make_shared<int>(1);
  const std::weak_ptr<int> watcher = alive;
  DetachedScope detached;
  {
    Scope scope = scopes.Acquire();
    scope.KeepAlive(std::move(alive));
    static_cast<void>(scope.arena().Allocate(200 * kKiB));
    detached = scope.Detach();
  }
  EXPECT_EQ(scopes.stats().scopes_live(), 1u);
  EXPECT_EQ(scopes.profile().records(), 0u);  // counted when it ends
  std::thread([&] { detached.Reset(); }).join();
  EXPECT_TRUE(watcher.expired());
  EXPECT_EQ(scopes.stats().scopes_live(), 0u);
  EXPECT_GE(scopes.profile().Percentile(100), 200 * kKiB);
}

}  // namespace
}  // namespace harena
