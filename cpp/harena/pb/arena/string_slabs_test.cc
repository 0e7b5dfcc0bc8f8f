#include "harena/pb/arena/string_slabs.h"

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <google/protobuf/arena.h>
#include <gtest/gtest.h>

#include "harena/pb/arena/string_buffers.h"
#include "harena/pb/codec/test_heap_count.h"
#include "harena/pb/layout/family.h"

namespace harena::pb {
namespace {

using codec::HeapBalance;
using codec::HeapCount;

using std::literals::string_view_literals::operator""sv;

TEST(StringSlabs, ItsStringsAreOrdinary) {
  google::protobuf::Arena arena;
  StringSlabs store(arena);
  std::vector<std::string*> strings;
  for (size_t i = 0; i < 1000; ++i) strings.push_back(store.TryMake(std::string(i % 99, 'x')));
  std::string given(500, 'g');
  const char* const buffer = given.data();
  std::string* const taken = store.TryMake(std::move(given));
  EXPECT_EQ(taken->data(), buffer);
  for (size_t i = 0; i < strings.size(); ++i) {
    ASSERT_NE(strings[i], nullptr);
    ASSERT_EQ(*strings[i], std::string(i % 99, 'x'));
    strings[i]->append(i % 7 * 100, 'y');
  }
  std::string out = std::move(*strings[98]);
  EXPECT_EQ(out.substr(0, 98), std::string(98, 'x'));
  arena.Reset();
  EXPECT_EQ(*store.TryMake("after the arena's reset, a string"sv),
            "after the arena's reset, a string");
  arena.Reset();
}

TEST(StringSlabs, OnAnotherThreadTheAnswerIsNull) {
  google::protobuf::Arena arena;
  StringSlabs store(arena);
  std::string* string = store.TryMake("made by the thread that made the store"sv);
  ASSERT_NE(string, nullptr);
  std::thread([&] {
    EXPECT_EQ(store.TryMake("made by another one"sv), nullptr);
    EXPECT_EQ(store.TryMake(std::string("made by another one")), nullptr);
    string->append(" and changed by another");  // anybody may, in turn
  }).join();
  EXPECT_EQ(*string, "made by the thread that made the store and changed by another");
  arena.Reset();
}

TEST(StringSlabs, NothingIsTakenFromTheHeapInSteadyState) {
  if (!HARENA_PROTOBUF_3_21) {
    GTEST_SKIP() << "this protobuf keeps an arena's list of cleanups on the heap";
  }
  google::protobuf::Arena arena;
  StringSlabs store(arena);
  size_t taken = 0;
  for (int round = 0; round < 4; ++round) {
    char block[64 * 1024];
    google::protobuf::ArenaOptions options;
    options.initial_block = block;
    options.initial_block_size = sizeof(block);
    google::protobuf::Arena local(options);
    StringSlabs strings(local);
    const HeapCount heap;
    for (int i = 0; i < 500; ++i) strings.TryMake("a text of more than fifteen bytes"sv);
    local.Reset();
    taken = heap.taken();
  }
  EXPECT_EQ(taken, 0u);
}

TEST(StringSlabs, EndsItsStringsWhereverTheArenaEnds) {
  const ptrdiff_t before = HeapBalance();
  {
    auto arena = std::make_unique<google::protobuf::Arena>();
    StringSlabs store(*arena);
    for (int i = 0; i < 500; ++i) store.TryMake(std::string(100 + i * 20, 'x'));
    std::thread([&] { arena.reset(); }).join();
  }
  TrimStringBuffers();
  // The other thread gave back what this one took.
  EXPECT_LE(HeapBalance() - before, 1600);
}

}  // namespace
}  // namespace harena::pb
