// Messages that were parsed to be read only: everything that compiles on a `const T&` is safe, and
// copies of any kind are ordinary messages.
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/reflection.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/codec/test_safety.h"
#include "harena/pb/parse/parse.h"

namespace harena::pb::codec {
namespace {

using google::protobuf::Arena;
using google::protobuf::Message;
using google::protobuf::TextFormat;
using google::protobuf::util::MessageDifferencer;

// A frozen message, and its twin on the heap.
template <typename T>
struct Case {
  Case(Length length, int block_bytes) {
    Fill(twin, "frozen", length);
    const std::string wire = BytesOf(twin);
    google::protobuf::io::ArrayInputStream input(wire.data(), static_cast<int>(wire.size()),
                                                 block_bytes);
    const Frozen<T> parsed = ParseFrozen<T>(*scope, input, wire.size());
    EXPECT_TRUE(parsed);
    frozen = parsed.message;
  }
  ~Case() {
    scope.reset();
    other.reset();
    EXPECT_EQ(pool.stats().bytes_in_use, 0u);
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  PagePool pool{TestOptions()};
  std::optional<Scope> scope{std::in_place, ScopeOptions{.page_pool = &pool, .mode = Mode::kCodec}};
  std::optional<Scope> other{std::in_place, ScopeOptions{.page_pool = &pool, .mode = Mode::kCodec}};
  Arena arena;
  T twin;
  const T* frozen = nullptr;
};

template <typename T>
struct FrozenRow {
  const char* name;
  void (*check)(Case<T>& c);
  friend std::ostream& operator<<(std::ostream& out, const FrozenRow& row) {
    return out << row.name;
  }
};

// `copy` is as free as any message.
template <typename T>
void ExpectOrdinary(T& copy, const T& twin) {
  EXPECT_EQ(BytesOf(copy), BytesOf(twin));
  T changed(twin);
  for (T* message : {&copy, &changed}) AppendEverywhere(*message, std::string(200, 'm'));
  EXPECT_EQ(BytesOf(copy), BytesOf(changed));
  copy.Clear();
  Fill(copy, "refilled", Length::kLong);
  EXPECT_TRUE(copy.ParseFromString(BytesOf(twin)));
  EXPECT_EQ(BytesOf(copy), BytesOf(twin));
}

template <typename T>
std::vector<FrozenRow<T>> RowsForAny() {
  using C = Case<T>;
  return {
      {"serialize",
       [](C& c) {
         EXPECT_EQ(BytesOf(*c.frozen), BytesOf(c.twin));
         EXPECT_EQ(c.frozen->ByteSizeLong(), c.twin.ByteSizeLong());
         T again;
         EXPECT_TRUE(again.ParseFromString(c.frozen->SerializeAsString()));
         EXPECT_TRUE(MessageDifferencer::Equals(again, c.twin));
       }},
      {"differencer", [](C& c) { EXPECT_TRUE(MessageDifferencer::Equals(*c.frozen, c.twin)); }},
      {"reflection_reads",
       [](C& c) { EXPECT_EQ(ReadEverything(*c.frozen), ReadEverything(c.twin)); }},
      {"debug_string", [](C& c) { EXPECT_EQ(c.frozen->DebugString(), c.twin.DebugString()); }},
      {"short_debug_string",
       [](C& c) { EXPECT_EQ(c.frozen->ShortDebugString(), c.twin.ShortDebugString()); }},
      {"text_format",
       [](C& c) {
         std::string text, twin_text;
         EXPECT_TRUE(TextFormat::PrintToString(*c.frozen, &text));
         EXPECT_TRUE(TextFormat::PrintToString(c.twin, &twin_text));
         EXPECT_EQ(text, twin_text);
       }},
      {"space_used_and_initialized",
       [](C& c) {
         EXPECT_GE(c.frozen->SpaceUsedLong(), sizeof(T));
         EXPECT_LE(c.frozen->SpaceUsedLong(), 2 * c.twin.SpaceUsedLong() + 4096);
         EXPECT_TRUE(c.frozen->IsInitialized());
         std::vector<std::string> errors;
         c.frozen->FindInitializationErrors(&errors);
         EXPECT_TRUE(errors.empty());
         EXPECT_EQ(c.frozen->GetTypeName(), c.twin.GetTypeName());
       }},
      {"new",
       [](C& c) {
         const std::unique_ptr<T> heap(c.frozen->New());
         Fill(*heap, "new", Length::kLong);
         T* made = c.frozen->New(c.frozen->GetArena());
         made->CopyFrom(*heap);
         ExpectOrdinary(*made, *heap);
       }},
      {"copy_construct",
       [](C& c) {
         T copy(*c.frozen);
         c.scope.reset();
         ExpectOrdinary(copy, c.twin);
       }},
      {"copy_assign",
       [](C& c) {
         T copy;
         copy = *c.frozen;
         c.scope.reset();
         ExpectOrdinary(copy, c.twin);
       }},
      {"copy_from",
       [](C& c) {
         T copy;
         Fill(copy, "before", Length::kMiddle);
         copy.CopyFrom(*c.frozen);
         c.scope.reset();
         ExpectOrdinary(copy, c.twin);
       }},
      {"move_of_const",
       [](C& c) {
         T moved(std::move(*c.frozen));  // NOLINT: a move of a const is a copy, which is the point
         EXPECT_EQ(BytesOf(*c.frozen), BytesOf(c.twin));
         c.scope.reset();
         ExpectOrdinary(moved, c.twin);
       }},
      {"merge_into_heap",
       [](C& c) {
         T into, twin;
         Fill(into, "into", Length::kLong);
         Fill(twin, "into", Length::kLong);
         into.MergeFrom(*c.frozen);
         twin.MergeFrom(c.twin);
         c.scope.reset();
         ExpectOrdinary(into, twin);
       }},
      {"merge_into_same_scope",
       [](C& c) {
         T* into = c.scope->template CreateMessage<T>();
         into->MergeFrom(*c.frozen);
         ExpectOrdinary(*into, c.twin);
         EXPECT_EQ(BytesOf(*c.frozen), BytesOf(c.twin));
       }},
      {"copy_onto_same_scope",
       [](C& c) {
         T* into = c.scope->template CreateMessage<T>();
         Fill(*into, "into", Length::kMiddle);
         into->CopyFrom(*c.frozen);
         *into = *c.frozen;
         ExpectOrdinary(*into, c.twin);
         EXPECT_EQ(BytesOf(*c.frozen), BytesOf(c.twin));
       }},
      {"merge_into_other_arena",
       [](C& c) {
         T* into = CreateOn<T>(c.arena);
         static_cast<Message*>(into)->MergeFrom(static_cast<const Message&>(*c.frozen));
         c.scope.reset();
         ExpectOrdinary(*into, c.twin);
       }},
      {"merge_into_other_scope",
       [](C& c) {
         T* into = c.other->template CreateMessage<T>();
         into->CopyFrom(*c.frozen);
         c.scope.reset();
         ExpectOrdinary(*into, c.twin);
       }},
      {"dynamic_message",
       [](C& c) {
         google::protobuf::DynamicMessageFactory factory;
         const std::unique_ptr<Message> copy(factory.GetPrototype(T::descriptor())->New());
         copy->CopyFrom(*c.frozen);
         c.scope.reset();
         EXPECT_EQ(BytesOf(*copy), BytesOf(c.twin));
         AppendEverywhere(*copy, "more than before");
       }},
      {"thaw",
       [](C& c) {
         T* thawed = Thaw(*c.scope, *c.frozen);
         ExpectOrdinary(*thawed, c.twin);
         EXPECT_EQ(BytesOf(*c.frozen), BytesOf(c.twin));
       }},
      {"thaw_onto_other_scope",
       [](C& c) {
         T* thawed = Thaw(*c.other, *c.frozen);
         c.scope.reset();
         ExpectOrdinary(*thawed, c.twin);
       }},
      {"read_by_another_thread_after_detach",
       [](C& c) {
         DetachedScope detached = c.scope->Detach();
         c.scope.reset();
         for (int i = 0; i < 5; ++i) {
           Scope next({.page_pool = &c.pool, .mode = Mode::kCodec});
           auto* message = next.CreateMessage<T>();
           Fill(*message, "over it", Length::kLong);
           const std::string wire = BytesOf(*message);
           EXPECT_TRUE(ParseFrozen<T>(next, wire));
         }
         const std::string bytes = BytesOf(c.twin);
         std::thread reader([&, frozen = c.frozen, owner = std::move(detached)]() mutable {
           EXPECT_EQ(BytesOf(*frozen), bytes);
           EXPECT_EQ(ReadEverything(*frozen), ReadEverything(c.twin));
           const T copy(*frozen);
           owner.Reset();
           EXPECT_EQ(BytesOf(copy), bytes);
         });
         reader.join();
       }},
      {"read_by_many_threads",
       [](C& c) {
         const std::string bytes = BytesOf(c.twin);
         const size_t sum = ReadEverything(c.twin);
         std::vector<std::thread> readers;
         for (int i = 0; i < 4; ++i) {
           readers.emplace_back([&, i] {
             if (i % 2 == 0) {
               EXPECT_EQ(BytesOf(*c.frozen), bytes);
             }
             EXPECT_EQ(ReadEverything(*c.frozen), sum);
             const T copy(*c.frozen);
             EXPECT_EQ(BytesOf(copy), bytes);
           });
         }
         for (std::thread& reader : readers) reader.join();
       }},
      {"arena_owned_reader",
       [](C& c) {
         // What the arena owns may read the message as it ends, as anywhere.
         struct Reader {
           ~Reader() { EXPECT_EQ(BytesOf(*message), bytes); }
           const T* message;
           std::string bytes;
         };
         c.frozen->GetArena()->Own(new Reader{c.frozen, BytesOf(c.twin)});
       }},
      {"arena_reset",
       [](C& c) {
         // GetArena() of a const message gives an arena that anybody may reset.
         c.frozen->GetArena()->Reset();
       }},
  };
}

std::vector<FrozenRow<Whole>> RowsForWhole() {
  using C = Case<Whole>;
  return {
      {"const_getters",
       [](C& c) {
         const Whole& a = *c.frozen;
         const Whole& b = c.twin;
         EXPECT_EQ(a.text(), b.text());
         EXPECT_EQ(a.blob(), b.blob());
         EXPECT_EQ(a.maybe_text(), b.maybe_text());
         EXPECT_EQ(a.texts(1).size(), b.texts(1).size());
         EXPECT_EQ(a.choice_case(), b.choice_case());
         EXPECT_EQ(a.choice_text(), b.choice_text());
         EXPECT_EQ(a.part().inner().name(), b.part().inner().name());
         EXPECT_EQ(a.words().begin()->first, b.words().begin()->first);
         EXPECT_EQ(a.words().begin()->second, b.words().begin()->second);
         EXPECT_EQ(a.words().at(b.words().begin()->first), b.words().begin()->second);
         EXPECT_EQ(a.text_by_number().at(5), b.text_by_number().at(5));
         EXPECT_TRUE(a.part_by_name().contains(b.part_by_name().begin()->first));
         EXPECT_STREQ(a.text().c_str(), b.text().c_str());
         EXPECT_EQ(a.text().c_str()[a.text().size()], '\0');
         EXPECT_GE(a.text().capacity(), a.text().size());
         EXPECT_EQ(a.text().substr(3), b.text().substr(3));
       }},
      {"copies_of_fields",
       [](C& c) {
         std::string text = c.frozen->text();
         google::protobuf::RepeatedPtrField<std::string> texts = c.frozen->texts();
         google::protobuf::Map<std::string, std::string> words = c.frozen->words();
         google::protobuf::Map<std::string, Part> parts = c.frozen->part_by_name();
         std::vector<std::string> list(c.frozen->texts().begin(), c.frozen->texts().end());
         c.scope.reset();
         text += "more";
         texts.Mutable(0)->append(9000, 'x');
         for (auto& [key, value] : words) value.append(9000, 'x');
         for (auto& [key, part] : parts) Fill(part, "over", Length::kLong);
         EXPECT_EQ(text, c.twin.text() + "more");
         EXPECT_EQ(list[2], c.twin.texts(2));
       }},
      {"sub_messages",
       [](C& c) {
         Whole* response = c.scope->CreateMessage<Whole>();
         response->mutable_part()->CopyFrom(c.frozen->part());
         *response->mutable_maybe_part() = c.frozen->parts(1);
         response->add_parts()->MergeFrom(c.frozen->part().inner());
         *response->mutable_parts() = c.frozen->parts();
         response->mutable_parts()->MergeFrom(c.frozen->parts());
         *response->mutable_texts() = {c.frozen->texts().begin(), c.frozen->texts().end()};
         response->mutable_texts()->MergeFrom(c.frozen->texts());
         response->mutable_words()->insert(c.frozen->words().begin(), c.frozen->words().end());
         *response->mutable_part_by_name() = c.frozen->part_by_name();
         response->set_text(c.frozen->text());
         response->set_choice_text(c.frozen->choice_text());
         response->mutable_any()->CopyFrom(c.frozen->any());
         Whole twin(*response);
         c.frozen = nullptr;
         ExpectOrdinary(*response, twin);
       }},
      {"copy_of_part_outlives",
       [](C& c) {
         Part part(c.frozen->parts(2));
         Part* other = c.other->CreateMessage<Part>();
         *other = c.frozen->part();
         c.scope.reset();
         ExpectOrdinary(part, c.twin.parts(2));
         ExpectOrdinary(*other, c.twin.part());
       }},
      {"any",
       [](C& c) {
         google::protobuf::Any any;
         EXPECT_TRUE(any.PackFrom(*c.frozen));
         Part part;
         EXPECT_TRUE(c.frozen->any().UnpackTo(&part));
         EXPECT_TRUE(c.frozen->any().Is<Part>());
         EXPECT_TRUE(c.scope->CreateMessage<Whole>()->mutable_any()->PackFrom(c.frozen->part()));
         c.scope.reset();
         Whole whole;
         EXPECT_TRUE(any.UnpackTo(&whole));
         ExpectOrdinary(whole, c.twin);
         ExpectOrdinary(part, c.twin.part());
       }},
      {"json",
       [](C& c) {
         std::string json, twin_json;
         ASSERT_TRUE(google::protobuf::util::MessageToJsonString(*c.frozen, &json).ok());
         ASSERT_TRUE(google::protobuf::util::MessageToJsonString(c.twin, &twin_json).ok());
         EXPECT_EQ(json, twin_json);
       }},
      {"parsed_into_twice",
       [](C& c) {
         // The same bytes twice in one wire: merged, the last one wins, maps keep one of each.
         const std::string wire = BytesOf(c.twin) + BytesOf(c.twin);
         Whole twin;
         ASSERT_TRUE(twin.ParseFromString(wire));
         const auto parsed = ParseFrozen<Whole>(*c.scope, wire);
         ASSERT_TRUE(parsed);
         EXPECT_EQ(BytesOf(*parsed.message), BytesOf(twin));
       }},
      {"broken_wire",
       [](C& c) {
         const std::string wire = BytesOf(c.twin);
         for (size_t cut = 1; cut < wire.size(); cut += 1 + wire.size() / 50) {
           const std::string_view part = std::string_view(wire).substr(0, wire.size() - cut);
           Whole twin;
           const bool ok = twin.ParseFromArray(part.data(), static_cast<int>(part.size()));
           EXPECT_EQ(static_cast<bool>(ParseFrozen<Whole>(*c.other, part)), ok);
         }
       }},
  };
}

constexpr int kBlockBytes[] = {-1, 7};

template <typename T>
void CheckFrozen(const FrozenRow<T>& row) {
  for (const Length length : kLengths) {
    for (const int block_bytes : kBlockBytes) {
      SCOPED_TRACE(::testing::Message()
                   << "length " << static_cast<int>(length) << ", chunks of " << block_bytes);
      Case<T> c(length, block_bytes);
      ASSERT_NE(c.frozen, nullptr);
      row.check(c);
    }
  }
}

struct Name {
  template <typename Param>
  std::string operator()(const Param& param) const {
    return param.param.name;
  }
};

class FrozenWhole : public ::testing::TestWithParam<FrozenRow<Whole>> {};
class FrozenWhole2 : public ::testing::TestWithParam<FrozenRow<Whole2>> {};

TEST_P(FrozenWhole, IsSafe) {
  RunApart([] { CheckFrozen(GetParam()); });
}
TEST_P(FrozenWhole2, IsSafe) {
  RunApart([] { CheckFrozen(GetParam()); });
}
INSTANTIATE_TEST_SUITE_P(Any, FrozenWhole, ::testing::ValuesIn(RowsForAny<Whole>()), Name());
INSTANTIATE_TEST_SUITE_P(Own, FrozenWhole, ::testing::ValuesIn(RowsForWhole()), Name());
INSTANTIATE_TEST_SUITE_P(Any, FrozenWhole2, ::testing::ValuesIn(RowsForAny<Whole2>()), Name());

}  // namespace
}  // namespace harena::pb::codec
