// What lives on a scope, for how long, and in which order it ends.
#include "harena/scope/scope.h"

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"

namespace harena {
namespace {

// Notes its number when it ends.
struct Recorder {
  Recorder(std::vector<int>& ended, int number) : ended(&ended), number(number) {}
  ~Recorder() { ended->push_back(number); }
  std::vector<int>* ended;
  int number;
};

class ScopeTest : public testing::Test {
 protected:
  ~ScopeTest() override { EXPECT_EQ(pool_.stats().bytes_in_use, 0u); }
  Scope MakeScope() { return Scope({.page_pool = &pool_}); }

  PagePool pool_{TestOptions()};
};

TEST_F(ScopeTest, StandsInItsOwnFirstPage) {
  Scope scope = MakeScope();
  EXPECT_EQ(pool_.stats().blocks_allocated, 1u);
  EXPECT_EQ(pool_.stats().bytes_in_use, 64 * kKiB);
  EXPECT_EQ(scope.arena().stats().blocks, 1u);
  // The page minus the scope's own head is there for use.
  EXPECT_NE(scope.arena().TryAllocate(60 * kKiB), nullptr);
  EXPECT_EQ(pool_.stats().blocks_allocated, 1u);
  EXPECT_EQ(scope.budget().bytes_used(), 64 * kKiB);
}

TEST_F(ScopeTest, StartsWithTheBlockThatIsAskedFor) {
  Scope scope({.first_block_bytes = 300 * kKiB, .page_pool = &pool_});
  EXPECT_EQ(pool_.stats().bytes_in_use, 512 * kKiB);
  EXPECT_EQ(scope.budget().bytes_used(), 512 * kKiB);
  EXPECT_NE(scope.arena().TryAllocate(400 * kKiB), nullptr);
  EXPECT_EQ(scope.arena().stats().blocks, 1u);
}

TEST_F(ScopeTest, TheDefaultPoolIsUsedWithoutOptions) {
  const size_t before_bytes = PagePool::Default().stats().bytes_in_use;
  {
    Scope scope;
    EXPECT_EQ(PagePool::OwnerOf(&scope.arena()), &PagePool::Default());
    EXPECT_EQ(PagePool::Default().stats().bytes_in_use, before_bytes + 64 * kKiB);
  }
  EXPECT_EQ(PagePool::Default().stats().bytes_in_use, before_bytes);
}

TEST_F(ScopeTest, DestructorsRunLastMadeFirst) {
  std::vector<int> ended;
  {
    Scope scope = MakeScope();
    for (int i = 0; i < 2000; ++i) scope.Create<Recorder>(ended, i);  // several blocks
    EXPECT_GT(scope.arena().stats().blocks, 1u);
    EXPECT_TRUE(ended.empty());
  }
  ASSERT_EQ(ended.size(), 2000u);
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(ended[static_cast<size_t>(i)], 1999 - i);
}

TEST_F(ScopeTest, AConstructorThatThrowsLeavesNothingToDestroy) {
  struct Throws {
    explicit Throws(std::vector<int>& ended) : member(ended, 1) { throw 7; }
    Recorder member;
  };
  std::vector<int> ended;
  {
    Scope scope = MakeScope();
    EXPECT_THROW(scope.Create<Throws>(ended), int);
    EXPECT_EQ(ended, std::vector<int>{1});  // the member, by the language
    scope.Create<Recorder>(ended, 2);
  }
  EXPECT_EQ(ended, (std::vector<int>{1, 2}));
}

TEST_F(ScopeTest, KeepAliveHoldsUntilTheEnd) {
  std::vector<int> ended;
  std::weak_ptr<Recorder> watcher;
  {
    Scope scope = MakeScope();
    auto shared = std::make_shared<Recorder>(ended, 1);
    watcher = shared;
    EXPECT_EQ(scope.KeepAlive(std::move(shared)), watcher.lock().get());
    EXPECT_FALSE(watcher.expired());
    EXPECT_EQ(scope.KeepAlive(std::shared_ptr<int>()), nullptr);
  }
  EXPECT_TRUE(watcher.expired());
  EXPECT_EQ(ended, std::vector<int>{1});
}

TEST_F(ScopeTest, WhatWasKeptAliveEndsAfterWhatUsesIt) {
  std::vector<int> ended;
  {
    Scope scope = MakeScope();
    scope.KeepAlive(std::make_shared<Recorder>(ended, 1));
    scope.Create<Recorder>(ended, 2);
  }
  EXPECT_EQ(ended, (std::vector<int>{2, 1}));
}

TEST_F(ScopeTest, StandardContainersLiveOnIt) {
  Scope scope = MakeScope();
  {
    std::pmr::vector<std::pmr::string> names(scope.resource());
    std::pmr::map<int, std::pmr::string> by_number(scope.resource());
    for (int i = 0; i < 5000; ++i) {
      names.emplace_back("a string that is too long to stand in itself " + std::to_string(i));
      by_number.emplace(i, names.back());
    }
    EXPECT_EQ(names[4999], by_number.at(4999));
    EXPECT_EQ(PagePool::OwnerOf(names[4999].data()), &pool_);
    EXPECT_EQ(PagePool::OwnerOf(&*by_number.begin()), &pool_);
    EXPECT_GT(scope.bytes_used(), 5000 * 2 * size_t{48});
  }
}

// The container is destroyed with the scope, and then still gives its memory back to resource().
TEST_F(ScopeTest, AContainerCreatedOnTheScopeEndsBeforeTheResource) {
  Scope scope = MakeScope();
  auto* names = scope.Create<std::pmr::vector<std::pmr::string>>(scope.resource());
  for (int i = 0; i < 100; ++i) names->emplace_back(std::string(100, 'x'));
  EXPECT_EQ(names->at(99).size(), 100u);
}

TEST_F(ScopeTest, BytesUsedGrowsWithWhatIsTaken) {
  Scope scope = MakeScope();
  const size_t before_bytes = scope.bytes_used();
  for (int i = 0; i < 100; ++i) static_cast<void>(scope.arena().Allocate(1000));
  EXPECT_GE(scope.bytes_used(), before_bytes + 100 * 1000);
  EXPECT_LE(scope.bytes_used(), before_bytes + 100 * 1100);
}

TEST_F(ScopeTest, MovingHandsTheMemoryOver) {
  std::vector<int> ended;
  Scope first = MakeScope();
  first.Create<Recorder>(ended, 1);
  Scope second = std::move(first);
  EXPECT_TRUE(ended.empty());
  second.Create<Recorder>(ended, 2);

  Scope third = MakeScope();
  third.Create<Recorder>(ended, 3);
  third = std::move(second);  // what it held before ends now
  EXPECT_EQ(ended, std::vector<int>{3});
  auto& same = third;  // compilers warn of the plain form
  third = std::move(same);
  EXPECT_EQ(ended, std::vector<int>{3});
  third.Create<Recorder>(ended, 4);

  second = MakeScope();  // a moved-from scope may be assigned to
  second.Create<Recorder>(ended, 5);
}

static_assert(!std::is_copy_constructible_v<Scope> && !std::is_copy_assignable_v<Scope>);
static_assert(std::is_nothrow_move_constructible_v<Scope> &&
              std::is_nothrow_move_assignable_v<Scope>);
static_assert(!std::is_copy_constructible_v<DetachedScope>);
static_assert(sizeof(Scope) == sizeof(void*));

struct CountingCompanion final : ScopeCompanion {
  explicit CountingCompanion(Scope& scope) : scope(&scope.arena()) { ++made; }
  ~CountingCompanion() { ++ended; }
  ptrdiff_t bytes_used_beyond_arena() const noexcept override { return extra_bytes; }
  Arena* scope;
  ptrdiff_t extra_bytes = 0;
  static inline int made = 0;
  static inline int ended = 0;
};

struct OtherCompanion final : ScopeCompanion {
  explicit OtherCompanion(Scope&) {}
  ptrdiff_t bytes_used_beyond_arena() const noexcept override { return 0; }
};

TEST_F(ScopeTest, ACompanionIsMadeOnceAndEndsWithTheScope) {
  CountingCompanion::made = CountingCompanion::ended = 0;
  {
    Scope scope = MakeScope();
    auto& companion = scope.companion<CountingCompanion>();
    auto& other = scope.companion<OtherCompanion>();
    EXPECT_EQ(&scope.companion<CountingCompanion>(), &companion);
    EXPECT_EQ(&scope.companion<OtherCompanion>(), &other);
    EXPECT_NE(static_cast<void*>(&other), static_cast<void*>(&companion));
    EXPECT_EQ(companion.scope, &scope.arena());
    EXPECT_EQ(CountingCompanion::made, 1);

    const size_t before_bytes = scope.bytes_used();
    companion.extra_bytes = 5000;
    EXPECT_EQ(scope.bytes_used(), before_bytes + 5000);
    companion.extra_bytes = -static_cast<ptrdiff_t>(before_bytes) - 1;
    EXPECT_EQ(scope.bytes_used(), 0u);  // an estimate never wraps round
    EXPECT_EQ(CountingCompanion::ended, 0);
  }
  EXPECT_EQ(CountingCompanion::ended, 1);
}

struct Refuses final : ScopeCompanion {
  explicit Refuses(Scope&) {
    if (refusing) throw BudgetExceeded({});
  }
  ptrdiff_t bytes_used_beyond_arena() const noexcept override { return 0; }
  static inline bool refusing = true;
};

TEST_F(ScopeTest, ACompanionThatCannotBeMadeIsTriedAgain) {
  Scope scope = MakeScope();
  EXPECT_THROW(scope.companion<Refuses>(), BudgetExceeded);
  EXPECT_GT(scope.bytes_used(), 0u);  // walks the companions there are
  Refuses::refusing = false;
  EXPECT_EQ(&scope.companion<Refuses>(), &scope.companion<Refuses>());
}

}  // namespace
}  // namespace harena
