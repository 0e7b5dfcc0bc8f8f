// What a request takes from the heap in steady state: nothing, or what is said here.
#include <cstdio>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/codec/test_heap_count.h"
#include "harena/pb/codec/test_safety.h"
#include "harena/pb/parse/parse.h"

namespace harena::pb::codec {
namespace {

const std::string kLong(100, 'L');

// Calls of operator new in one round of `request`, once rounds have become alike.
size_t HeapOf(const std::function<void(Scope&)>& request) {
  PagePool pool(TestOptions());
  size_t taken = 0;
  for (int round = 0; round < 8; ++round) {
    const HeapCount heap;
    {
      Scope scope({.page_pool = &pool, .mode = Mode::kCodec});
      request(scope);
    }
    taken = heap.taken();
  }
  ::testing::Test::RecordProperty("heap", static_cast<int>(taken));
  return taken;
}

// A Whole without what only protobuf itself can hold: unknown fields and Any.
std::string Wire(int parts) {
  Whole message;
  Fill(message, "wire", Length::kMiddle);
  for (int i = 0; i < parts; ++i) {
    Fill(*message.add_parts(), "part " + std::to_string(i), Length::kMiddle);
    (*message.mutable_words())["a key of more than fifteen bytes " + std::to_string(i)] = kLong;
    (*message.mutable_text_by_number())[i] = kLong;
  }
  message.clear_any();
  message.clear_anys();
  message.DiscardUnknownFields();
  return BytesOf(message);
}

TEST(ZeroHeap, ParsingFrozen) {
  std::string wire = Wire(50);
  Whole message;
  ASSERT_TRUE(message.ParseFromString(wire));
  message.clear_part_by_name();
  wire = BytesOf(message);
  EXPECT_EQ(HeapOf([&](Scope& scope) { ASSERT_TRUE(ParseFrozen<Whole>(scope, wire)); }), 0u);
}

TEST(ZeroHeap, ParsingFrozenMapsOfMessages) {
  Whole message;
  for (int i = 0; i < 10; ++i) {
    (*message.mutable_part_by_name())["a key of more than fifteen bytes " + std::to_string(i)]
        .set_name(kLong);
  }
  const std::string wire = BytesOf(message);
  // Not zero yet: such entries are protobuf's, and each key takes a buffer or more of them.
  EXPECT_LE(HeapOf([&](Scope& scope) { ASSERT_TRUE(ParseFrozen<Whole>(scope, wire)); }), 30u);
}

TEST(ZeroHeap, ParsingOpen) {
  Whole message;
  ASSERT_TRUE(message.ParseFromString(Wire(50)));
  message.clear_words();
  message.clear_text_by_number();
  message.clear_part_by_name();
  for (Part& part : *message.mutable_parts()) part.clear_notes();
  message.mutable_part()->clear_notes();
  message.mutable_maybe_part()->clear_notes();
  const std::string wire = BytesOf(message);
  EXPECT_EQ(HeapOf([&](Scope& scope) {
              ASSERT_TRUE(scope.CreateMessage<Whole>()->ParseFromString(wire));
            }),
            0u);
}

// Strings that are added one by one: where it parses by tables they are protobuf's own.
constexpr size_t kHeapPerAdded = HARENA_PARSES_BY_TABLE ? 1 : 0;

TEST(ZeroHeap, BuildingWithSetters) {
  EXPECT_EQ(HeapOf([](Scope& scope) {
              auto* message = scope.CreateMessage<Whole>();
              message->set_text(kLong);
              message->set_blob(kLong);
              message->set_maybe_text("a text of more than fifteen bytes");
              message->set_choice_text(kLong);
              for (int i = 0; i < 100; ++i) {
                Part* part = message->add_parts();
                part->set_name(kLong);
                part->set_blob(kLong.data(), 70);
                part->mutable_inner()->set_name(kLong);
                message->add_numbers(i);
                message->add_ratios(i);
                message->add_texts(kLong);
                message->add_blobs(kLong.data(), 70);
                part->add_tags(kLong);
              }
            }),
            300 * kHeapPerAdded);
}

TEST(ZeroHeap, CopyingFromAFrozenRequest) {
  Whole message;
  message.set_text(kLong);
  for (int i = 0; i < 20; ++i) {
    message.add_parts()->set_name(kLong);
    message.add_texts(kLong);
  }
  const std::string wire = BytesOf(message);
  EXPECT_EQ(HeapOf([&](Scope& scope) {
              const auto frozen = ParseFrozen<Whole>(scope, wire);
              ASSERT_TRUE(frozen);
              auto* response = scope.CreateMessage<Whole>();
              response->set_text(frozen.message->text());
              *response->mutable_parts() = frozen.message->parts();
              response->mutable_whole()->CopyFrom(*frozen.message);
            }),
            60 * kHeapPerAdded);
}

TEST(ZeroHeap, Serializing) {
  const std::string wire = Wire(50);
  std::string out(2 * wire.size(), '\0');
  EXPECT_LE(HeapOf([&](Scope& scope) {
              const auto frozen = ParseFrozen<Whole>(scope, wire);
              ASSERT_TRUE(frozen);
              const size_t size = frozen.message->ByteSizeLong();
              static_cast<void>(frozen.message->SerializeWithCachedSizesToArray(
                  reinterpret_cast<uint8_t*>(out.data())));
              ASSERT_EQ(size, wire.size());
            }),
            4u);  // the one map of messages in Wire()
  EXPECT_EQ(out.substr(0, wire.size()), wire);
}

// Where the present is not the goal: what each costs, so that progress is seen.
TEST(ZeroHeap, WhatIsLeft) {
  const auto per = [](const std::function<void(Whole&, int)>& one) {
    return static_cast<double>(HeapOf([&](Scope& scope) {
             auto* message = scope.CreateMessage<Whole>();
             for (int i = 0; i < 100; ++i) one(*message, i);
           })) /
           100;
  };
  struct Case {
    const char* name;
    double at_most;
    std::function<void(Whole&, int)> one;
  };
  const Case cases[] = {
      {"*add_texts() = long", 1, [](Whole& m, int) { *m.add_texts() = kLong; }},
      {"mutable_name()->append(long)", 1,
       [](Whole& m, int) { m.add_parts()->mutable_name()->append(kLong); }},
      {"words()[long] = long", 3,
       [](Whole& m, int i) {
         char key[40];
         std::snprintf(key, sizeof(key), "a key of more than 15 bytes %d", i);
         std::string owner(key);  // one of the two is the caller's own
         (*m.mutable_words())[owner] = kLong;
       }},
      {"text_by_number()[i] = long", 1,
       [](Whole& m, int i) { (*m.mutable_text_by_number())[i] = kLong; }},
  };
  for (const Case& one : cases) {
    const double heap = per(one.one);
    std::printf("%-32s %.2f calls of operator new each\n", one.name, heap);
    EXPECT_LE(heap, one.at_most + 0.05) << one.name;
  }
}

// Entries are sorted to be written; what that takes of a large map is not kept.
TEST(ZeroHeap, AThreadKeepsLittleOfALargeMapThatItWrote) {
  PagePool pool(TestOptions());
  const ptrdiff_t before_bytes = HeapBytes();
  {
    Scope scope({.page_pool = &pool, .mode = Mode::kCodec});
    auto* message = scope.CreateMessage<Whole>();
    for (int i = 0; i < 50'000; ++i) (*message->mutable_text_by_number())[i];
    EXPECT_GT(message->ByteSizeLong(), 50'000u);
  }
  EXPECT_LE(HeapBytes() - before_bytes, 64 * 1024);
}

}  // namespace
}  // namespace harena::pb::codec
