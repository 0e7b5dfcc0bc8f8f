// Which arenas are known for ours, among all that a program may have.
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include <google/protobuf/arena.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/codec/test_safety.h"

namespace harena::pb::codec {
namespace {

using google::protobuf::Arena;

TEST(FindCodec, OursInModeCodecAlone) {
  PagePool pool(TestOptions());
  for (const Mode mode : kModes) {
    Scope scope({.page_pool = &pool, .mode = mode});
    auto* message = scope.CreateMessage<Whole>();
    MessageArena* const found = MessageArena::FindCodec(message->GetArena());
    EXPECT_EQ(found, mode == Mode::kCodec ? &MessageArena::Of(scope) : nullptr) << ToString(mode);
    EXPECT_EQ(MessageArena::Find(message->GetArena()), &MessageArena::Of(scope)) << ToString(mode);
  }
  EXPECT_EQ(MessageArena::FindCodec(nullptr), nullptr);
}

TEST(FindCodec, NobodyElses) {
  PagePool pool(TestOptions());
  Scope scope({.page_pool = &pool, .mode = Mode::kCodec});
  scope.CreateMessage<Whole>();
  Arena on_stack;
  static Arena in_data;
  const auto on_heap = std::make_unique<Arena>();
  auto* on_scope = scope.Create<Arena>();
  auto* second_on_scope = scope.Create<Arena>();
  auto* on_arena = Arena::Create<Arena>(&MessageArena::Of(scope).arena());
  const Block block = pool.TryAllocate(1);
  auto* on_block = ::new (block.data) Arena;
  for (const Arena* arena :
       {const_cast<const Arena*>(&on_stack), const_cast<const Arena*>(&in_data),
        const_cast<const Arena*>(on_heap.get()), const_cast<const Arena*>(on_scope),
        const_cast<const Arena*>(second_on_scope), const_cast<const Arena*>(on_arena),
        const_cast<const Arena*>(on_block)}) {
    EXPECT_EQ(MessageArena::FindCodec(arena), nullptr);
  }
  // Messages there are protobuf's in everything.
  for (Arena* arena : {&on_stack, on_heap.get(), on_scope, on_arena, on_block}) {
    auto* message = CreateOn<Whole>(*arena);
    Fill(*message, "stock", Length::kMiddle);
    Whole twin;
    Fill(twin, "stock", Length::kMiddle);
    EXPECT_EQ(BytesOf(*message), BytesOf(twin));
    EXPECT_TRUE(message->ParseFromString(BytesOf(twin)));
    EXPECT_EQ(BytesOf(*message), BytesOf(twin));
  }
  on_block->~Arena();
  pool.Free(block.data, block.bytes);
}

TEST(FindCodec, AnEndedScopesArenaIsForgotten) {
  PagePool pool(TestOptions());
  const Arena* ended = nullptr;
  {
    Scope scope({.page_pool = &pool, .mode = Mode::kCodec});
    ended = scope.CreateMessage<Whole>()->GetArena();
    EXPECT_NE(MessageArena::FindCodec(ended), nullptr);
  }
  EXPECT_EQ(MessageArena::FindCodec(ended), nullptr);
  {
    // The same place, another mode.
    Scope scope({.page_pool = &pool, .mode = Mode::kPages});
    const Arena* next = scope.CreateMessage<Whole>()->GetArena();
    EXPECT_EQ(next, ended);
    EXPECT_EQ(MessageArena::FindCodec(next), nullptr);
  }
}

TEST(FindCodec, OnEveryThread) {
  Scope scope({.mode = Mode::kCodec});
  auto* message = scope.CreateMessage<Whole>();
  std::thread([&] {
    EXPECT_EQ(MessageArena::FindCodec(message->GetArena()), &MessageArena::Of(scope));
    // Built by another thread than the scope's: protobuf's way, the same content.
    Fill(*message, "by another thread", Length::kMiddle);
  }).join();
  Whole twin;
  Fill(twin, "by another thread", Length::kMiddle);
  EXPECT_EQ(BytesOf(*message), BytesOf(twin));
  AppendEverywhere(*message, "by the scope's thread");
  AppendEverywhere(twin, "by the scope's thread");
  EXPECT_EQ(BytesOf(*message), BytesOf(twin));
}

TEST(FindCodec, SeveralThreadsBuildMessagesOfOneScope) {
  Scope scope({.mode = Mode::kCodec});
  Arena& arena = MessageArena::Of(scope).arena();
  Whole twin;
  Fill(twin, "built", Length::kMiddle);
  const std::string bytes = BytesOf(twin);
  std::vector<std::thread> threads;
  const auto build = [&] {
    for (int i = 0; i < 50; ++i) {
      auto* message = CreateOn<Whole>(arena);
      Fill(*message, "built", Length::kMiddle);
      ASSERT_EQ(BytesOf(*message), bytes);
      ASSERT_TRUE(message->ParseFromString(bytes));
      ASSERT_TRUE(message->MergeFromString(bytes));
    }
  };
  for (int i = 0; i < 3; ++i) threads.emplace_back(build);
  build();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace harena::pb::codec
