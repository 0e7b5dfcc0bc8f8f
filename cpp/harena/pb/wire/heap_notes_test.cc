// Kept messages' notes lead to what a look at the whole arena would.
#include "harena/pb/wire/heap_notes.h"

#include <set>
#include <string>
#include <vector>

#include <google/protobuf/arena.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/message_keeper.h"
#include "harena/pb/parse.h"
#include "harena/pb/test_wire.h"
#include "harena/test/shapes.pb.h"

#if HARENA_CODEC
namespace harena::pb::wire {
namespace {

using google::protobuf::UnknownFieldSet;
using harena::test::Shapes;
using pb::test::Field;
using pb::test::Number;
using pb::test::Repeat;

std::string Unknown(int fields) {
  return Repeat(Number(1000, 7) + Field(1001, std::string(20, 'x')), static_cast<size_t>(fields));
}

// Messages with unknown fields and strings in varying numbers, and two that are none.
std::vector<std::string> Requests() {
  std::vector<std::string> wires;
  for (const int count : {0, 3, 40, 1, 400, 400, 7, 0, 50}) {
    std::string wire = Field(1, std::string(300, 'z')) + Unknown(count);
    for (int i = 0; i < count; ++i) wire += Field(10, Field(1, "leaf") + Unknown(i % 5));
    wires.push_back(wire);
    if (count == 40) wires.push_back(wire + "\xff");
  }
  wires.push_back(Field(10, Unknown(3)) + "\x0a");
  return wires;
}

class KeptNotes : public testing::Test {
 protected:
  Scope Make(size_t request_bytes_max) {
    return Scope(
        {.request_bytes_max = request_bytes_max, .page_pool = &pool_, .mode = Mode::kReuse});
  }

  PagePool pool_{TestOptions()};
};

TEST_F(KeptNotes, ChargeWhatALookAtAllWould) {
  for (const size_t bytes_max : {300 * kKiB, 2 * kMiB, 200 * kMiB}) {
    google::protobuf::Arena with, without;
    auto* const noted = google::protobuf::Arena::CreateMessage<Shapes>(&with);
    auto* const other = google::protobuf::Arena::CreateMessage<Shapes>(&without);
    HeapNotes notes;
    size_t parsed = 0;
    for (const std::string& wire : Requests()) {
      Scope scope = Make(bytes_max), plain = Make(bytes_max);
      scope.companion<BorrowedNotes>().Set(with, notes);
      const ParseResult result = Parse(scope, wire, *noted);
      ASSERT_EQ(Parse(plain, wire, *other).status, result.status) << bytes_max;
      EXPECT_EQ(scope.outside_bytes(), plain.outside_bytes()) << bytes_max;
      parsed += result.status == ParseStatus::kOk ? 1 : 0;
      // Nothing twice, and nothing left out but what was parsed without a meter, which is new.
      ASSERT_TRUE(notes.marks.Look(with, &notes.strings, [&](const UnknownFieldSet& set) {
        notes.containers.push_back(&set);
      }));
      std::set<const UnknownFieldSet*> all;
      size_t strings = 0;
      layout::CleanupMarks().Look(with, &strings,
                                  [&](const UnknownFieldSet& set) { all.insert(&set); });
      EXPECT_EQ(notes.containers.size(), all.size());
      EXPECT_TRUE(std::set(notes.containers.begin(), notes.containers.end()) == all);
      EXPECT_EQ(notes.strings, strings);
      noted->Clear();
      other->Clear();
    }
    EXPECT_GE(parsed, 6u) << bytes_max;
    EXPECT_GT(notes.containers.size(), 100u) << bytes_max;
  }
}

TEST_F(KeptNotes, AreOfTheArenaThatWasSetLast) {
  google::protobuf::Arena first, second;
  HeapNotes of_first, of_second;
  Scope scope = Make(kMiB);
  auto& borrowed = scope.companion<BorrowedNotes>();
  EXPECT_EQ(borrowed.Of(first), nullptr);
  borrowed.Set(first, of_first);
  EXPECT_EQ(borrowed.Of(first), &of_first);
  EXPECT_EQ(borrowed.Of(second), nullptr);
  borrowed.Set(second, of_second);
  EXPECT_EQ(borrowed.Of(first), nullptr);
  EXPECT_EQ(borrowed.Of(second), &of_second);
}

TEST_F(KeptNotes, GoWithTheInstance) {
  const Shapes prototype;
  MessageKeeper keeper(prototype, prototype, {.mode = Mode::kReuse, .page_pool = &pool_});
  const std::string wire = Requests()[4];
  HeapNotes* first_notes = nullptr;
  for (int i = 0; i < 5; ++i) {
    Scope scope = Make(64 * kMiB);
    const auto pair = keeper.Borrow(scope);
    HeapNotes* const notes = scope.companion<BorrowedNotes>().Of(*pair.request->GetArena());
    ASSERT_NE(notes, nullptr);
    if (i == 0) first_notes = notes;
    EXPECT_EQ(notes, first_notes);
    EXPECT_EQ(notes->containers.empty(), i == 0);
    EXPECT_EQ(Parse(scope, wire, *pair.request).status, ParseStatus::kOk);
  }
  EXPECT_EQ(keeper.stats().instances_built, 1u);
}

}  // namespace
}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
