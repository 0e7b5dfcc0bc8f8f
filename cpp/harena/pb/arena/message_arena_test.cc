// Messages on a scope.
#include "harena/pb/arena/message_arena.h"

#include <sys/mman.h>

#include <memory>
#include <new>
#include <optional>

#include <google/protobuf/arena.h>
#include <gtest/gtest.h>

#include "harena/base/poison.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/scope/scope_pool.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/shapes2.pb.h"

namespace harena::pb {
namespace {

using harena::test::Shapes;
using harena::test::Shapes2;

constexpr size_t kPageBytes = 64 * kKiB;

void Fill(Shapes& message, int leaves) {
  message.set_text("a text of its own");
  for (int i = 0; i < leaves; ++i) {
    message.add_leaves()->set_name("leaf");
    message.add_packed(i);
    (*message.mutable_numbers())[i] = i;
  }
}

TEST(MessageArena, ASmallRequestTakesOneBlockInAll) {
  PagePool pool(TestOptions());
  Scope scope({.page_pool = &pool});
  auto* request = scope.CreateMessage<Shapes>();
  auto* response = scope.CreateMessage<Shapes2>();
  Fill(*request, 50);
  response->set_id(1);
  response->mutable_child()->set_id(2);
  EXPECT_EQ(pool.stats().blocks_allocated, 1u);
  EXPECT_EQ(PagePool::OwnerOf(request), &pool);
  // And what the handler takes besides still fits there.
  EXPECT_NE(scope.arena().TryAllocate(1000), nullptr);
  scope.KeepAlive(std::make_shared<int>(1));
  EXPECT_EQ(pool.stats().blocks_allocated, 1u);
}

TEST(MessageArena, OneArenaServesAllMessagesOfAScope) {
  PagePool pool(TestOptions());
  Scope scope({.page_pool = &pool});
  auto* first = scope.CreateMessage<Shapes>();
  auto* second = scope.CreateMessage<Shapes>();
  EXPECT_EQ(first->GetArena(), second->GetArena());
  EXPECT_EQ(first->GetArena(), &MessageArena::Of(scope).arena());
  // So moving between them copies nothing.
  second->mutable_leaf()->set_name("moved");
  const auto* leaf = &second->leaf();
  first->Swap(second);
  EXPECT_EQ(&first->leaf(), leaf);
}

TEST(MessageArena, ALearnedFirstBlockHoldsTheWholeRequest) {
  PagePool pool(TestOptions());
  ScopePool scopes({.first_block_bytes_max = 2 * kMiB, .page_pool = &pool});
  for (int i = 0; i < 5; ++i) {
    Scope scope = scopes.Acquire();
    Fill(*scope.CreateMessage<Shapes>(), 3000);
  }
  const uint64_t before = pool.stats().blocks_allocated;
  Scope scope = scopes.Acquire();
  Fill(*scope.CreateMessage<Shapes>(), 3000);
  EXPECT_EQ(pool.stats().blocks_allocated, before + 1);
}

TEST(MessageArena, CountsBlocksBeyondTheFirst) {
  PagePool pool(TestOptions());
  for (const Mode mode : {Mode::kPages, Mode::kCodec}) {
    ScopePool scopes({.mode = mode, .first_block_bytes = kPageBytes, .page_pool = &pool});
    const auto serve = [&](int leaves) {
      Scope scope = scopes.Acquire();
      Fill(*scope.CreateMessage<Shapes>(), leaves);
    };
    serve(10);
    EXPECT_EQ(scopes.stats().overflows, 0u);
    EXPECT_EQ(scopes.stats().block_bytes_sum, kPageBytes);
    const uint64_t blocks_before = pool.stats().blocks_allocated;
    serve(2000);
    const uint64_t blocks = pool.stats().blocks_allocated - blocks_before;
    EXPECT_EQ(scopes.stats().overflows, 1u);
    EXPECT_GE(blocks, 2u);
    EXPECT_GE(scopes.stats().block_bytes_sum, (1 + blocks) * kPageBytes);
    EXPECT_LE(scopes.stats().block_bytes_sum, kPageBytes + pool.stats().bytes_mapped);
  }
}

TEST(MessageArena, BytesUsedCountsMessagesOnce) {
  PagePool pool(TestOptions());
  Scope scope({.page_pool = &pool});
  const size_t empty_bytes = scope.bytes_used();
  auto* message = scope.CreateMessage<Shapes>();
  // Not the start that protobuf was given, but what it uses of it.
  EXPECT_LT(scope.bytes_used(), empty_bytes + 2000);
  Fill(*message, 10'000);
  EXPECT_GE(scope.bytes_used(), message->SpaceUsedLong() / 2);
  EXPECT_LE(scope.bytes_used(), message->SpaceUsedLong() * 2);
}

TEST(MessageArena, ModeArenaTakesItsBlocksFromMalloc) {
  PagePool pool(TestOptions());
  const size_t before_bytes = ProcessBudget().bytes_used();
  {
    Scope scope({.page_pool = &pool, .mode = Mode::kArena});
    auto* message = scope.CreateMessage<Shapes>();
    Fill(*message, 5000);
    EXPECT_EQ(PagePool::OwnerOf(message), nullptr);
    EXPECT_EQ(pool.stats().bytes_in_use, kPageBytes);
    EXPECT_GE(scope.bytes_used(), 5000 * sizeof(harena::test::Leaf));
    EXPECT_GE(ProcessBudget().bytes_used(), before_bytes + 5000 * sizeof(harena::test::Leaf));
  }
  EXPECT_EQ(ProcessBudget().bytes_used(), before_bytes);
}

TEST(MessageArena, CreateMessageIsRefusedWithinTheBudget) {
  for (const Mode mode : {Mode::kArena, Mode::kPages, Mode::kReuse}) {
    PagePool pool(TestOptions());
    Scope scope({.request_bytes_max = 4 * kPageBytes, .page_pool = &pool, .mode = mode});
    EXPECT_THROW(
        {
          for (;;) scope.CreateMessage<Shapes>();
        },
        BudgetExceeded);
    EXPECT_LE(scope.budget().bytes_used(), 5 * kPageBytes);
    EXPECT_GE(scope.budget().bytes_used(), 3 * kPageBytes);
    EXPECT_LE(pool.stats().bytes_in_use, 5 * kPageBytes);
  }
}

// The arena takes its first block as it is made, and that block counts like any other.
TEST(MessageArena, TheArenasOwnFirstBlockIsCharged) {
  for (const Mode mode : {Mode::kArena, Mode::kPages}) {
    PagePool pool(TestOptions());
    Scope scope({.page_pool = &pool, .mode = mode});
    static_cast<void>(scope.arena().Allocate(kPageBytes - 2000));  // no room for a start
    const size_t before_bytes = scope.budget().bytes_used();
    MessageArena::Of(scope);
    EXPECT_GE(scope.budget().bytes_used() - before_bytes,
              MessageArena::Of(scope).arena().SpaceAllocated())
        << ToString(mode);
  }
}

TEST(MessageArena, NothingThrowsWhereAFrameworkFillsTheMessages) {
  PagePool pool(TestOptions());
  Scope scope(
      {.request_bytes_max = 2 * kPageBytes, .page_pool = &pool, .messages_may_throw = false});
  auto* message = scope.CreateMessage<Shapes>();
  EXPECT_NO_THROW(Fill(*message, 20'000));
  EXPECT_EQ(message->leaves_size(), 20'000);
}

TEST(MessageArena, MessagesOutliveTheScopeWhenDetached) {
  PagePool pool(TestOptions());
  std::optional<Scope> scope(ScopeOptions{.page_pool = &pool});
  auto* message = scope->CreateMessage<Shapes>();
  Fill(*message, 2000);
  const DetachedScope detached = scope->Detach();
  scope.reset();
  EXPECT_EQ(message->leaves(1999).name(), "leaf");
  EXPECT_EQ(message->numbers().at(1999), 1999);
}

TEST(MessageArena, ASmallRestIsLeftToTheHandler) {
  PagePool pool(TestOptions());
  Scope scope({.page_pool = &pool});
  static_cast<void>(scope.arena().Allocate(kPageBytes - 2500));
  auto* message = scope.CreateMessage<Shapes>();
  EXPECT_NE(PagePool::OwnerOf(message), nullptr);
  EXPECT_EQ(pool.stats().blocks_allocated, 2u);
  EXPECT_NE(scope.arena().TryAllocate(1000), nullptr);
  EXPECT_EQ(pool.stats().blocks_allocated, 2u);
}

// Somebody's arena where one of ours was, and no memory before its page.
TEST(MessageArena, AForeignArenaIsToldWithoutAReadBeforeItsPage) {
  constexpr size_t kOsPageBytes = 4096;
  const auto page_of = [](const void* address) {
    return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(address) & -kOsPageBytes);
  };
  for (size_t before_bytes = 0; before_bytes < kOsPageBytes; before_bytes += 8) {
    void* place = nullptr;
    {
      PagePool pool(TestOptions());
      Scope scope({.page_pool = &pool});
      static_cast<void>(scope.arena().Allocate(kOsPageBytes + before_bytes, 8));
      place = &MessageArena::Of(scope).arena();
      ASSERT_NE(MessageArena::Find(static_cast<google::protobuf::Arena*>(place)), nullptr);
    }
    ASSERT_EQ(PagePool::OwnerOf(place), nullptr);
    char* const page = page_of(place);
    const size_t bytes = 2 * kOsPageBytes;  // the arena may go on in the next page
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    ASSERT_EQ(mmap(page - kOsPageBytes, kOsPageBytes, PROT_NONE, kFlags, -1, 0),
              page - kOsPageBytes);
    ASSERT_EQ(mmap(page, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0), page);
    Unpoison(page, bytes);
    auto* const foreign = ::new (place) google::protobuf::Arena;
    EXPECT_EQ(MessageArena::Find(foreign), nullptr);
    std::destroy_at(foreign);
    ASSERT_EQ(munmap(page - kOsPageBytes, kOsPageBytes + bytes), 0);
  }
}

// The same in a block of ours, before which nobody may read either.
TEST(MessageArena, AForeignArenaAtTheStartOfAGuardedBlockIsTold) {
  PagePoolOptions options = TestOptions();
  options.guard_pages = true;
  PagePool pool(options);
  const Block block = pool.TryAllocate(kPageBytes);
  ASSERT_TRUE(block);
  auto* const foreign = ::new (block.data) google::protobuf::Arena;
  EXPECT_EQ(MessageArena::Find(foreign), nullptr);
  std::destroy_at(foreign);
  pool.Free(block.data, block.bytes);
}

}  // namespace
}  // namespace harena::pb
