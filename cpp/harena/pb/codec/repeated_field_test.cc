#include "harena/pb/codec/repeated_field.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <google/protobuf/arena.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/codec/test_safety.h"
#include "harena/pb/parse/parse.h"

// Elsewhere the fields are protobuf's.
#if HARENA_CODEC
namespace harena::pb::codec {
namespace {

class Repeated : public ::testing::Test {
 protected:
  PagePool pool_{TestOptions()};
  Scope scope_{{.page_pool = &pool_, .mode = Mode::kCodec}};
};

template <typename T>
class RepeatedNumbers : public Repeated {};
using NumberTypes = ::testing::Types<bool, int32_t, int64_t, uint32_t, uint64_t, float, double>;
TYPED_TEST_SUITE(RepeatedNumbers, NumberTypes);

TYPED_TEST(RepeatedNumbers, AreWhatRepeatedFieldWouldHaveMade) {
  using Field = google::protobuf::RepeatedField<TypeParam>;
  using Ours = google::protobuf::HarenaRepeatedField<TypeParam>;
  google::protobuf::Arena& arena = MessageArena::Of(this->scope_).arena();
  auto* one = google::protobuf::Arena::CreateArray<char>(&arena, 2 * sizeof(Ours));
  auto* ours = ::new (one) Ours(&arena);
  auto* other = ::new (one + sizeof(Ours)) Ours(&arena);
  Field stock;
  for (int i = 0; i < 3000; ++i) {
    ours->Add(static_cast<TypeParam>(i));
    stock.Add(static_cast<TypeParam>(i));
    // Now and then another field is the newest in the chunk.
    if (i % 7 == 0) other->Add(static_cast<TypeParam>(i));
    ASSERT_EQ(ours->size(), stock.size());
  }
  Field& field = ours->stock();
  EXPECT_EQ(field.GetArena(), &arena);
  EXPECT_TRUE(std::equal(field.begin(), field.end(), stock.begin(), stock.end()));
  for (int i = 0; i < other->size(); ++i) {
    ASSERT_EQ(other->Get(i), static_cast<TypeParam>(i * 7));
  }
  // And whatever protobuf does with it from here on.
  field.Resize(5000, TypeParam(1));
  stock.Resize(5000, TypeParam(1));
  field.erase(field.begin(), field.begin() + 100);
  stock.erase(stock.begin(), stock.begin() + 100);
  field.Swap(&stock);
  EXPECT_TRUE(std::equal(field.begin(), field.end(), stock.begin(), stock.end()));
  EXPECT_EQ(stock.GetArena(), nullptr);
  field.MergeFrom(stock);
  EXPECT_EQ(field.size(), 2 * stock.size());
}

TEST_F(Repeated, TheNewestArrayGrowsWhereItStands) {
  auto* message = scope_.CreateMessage<Whole>();
  message->add_numbers(0);
  const int* const first = message->numbers().data();
  for (int i = 1; i < 50; ++i) message->add_numbers(i);
  EXPECT_EQ(message->numbers().data(), first);
  message->add_ratios(0.5);
  for (int i = 50; i < 100; ++i) message->add_numbers(i);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(message->numbers(i), i);
  EXPECT_EQ(message->ratios(0), 0.5);
}

TEST_F(Repeated, CopiesOfStringsOfEveryLength) {
  Whole from;
  for (int length = 0; length < 300; ++length) {
    from.add_texts(std::string(length, static_cast<char>('a' + length % 26)));
  }
  // A short text in a buffer of its own.
  std::string roomy("short");
  roomy.reserve(1000);
  from.add_texts(std::move(roomy));
  Whole expected = from;
  auto* message = scope_.CreateMessage<Whole>();
  const auto check = [&] {
    ASSERT_EQ(message->texts_size(), expected.texts_size());
    for (int i = 0; i < expected.texts_size(); ++i) ASSERT_EQ(message->texts(i), expected.texts(i));
    EXPECT_EQ(message->SerializeAsString(), expected.SerializeAsString());
  };
  message->MergeFrom(from);
  check();
  // Into a field that has elements.
  message->MergeFrom(from);
  expected.MergeFrom(from);
  check();
  // Into one that keeps cleared objects.
  message->mutable_texts()->DeleteSubrange(5, 200);
  message->mutable_texts()->RemoveLast();
  expected.mutable_texts()->DeleteSubrange(5, 200);
  expected.mutable_texts()->RemoveLast();
  message->MergeFrom(from);
  expected.MergeFrom(from);
  check();
  // From what may only be read, and the copy may be changed.
  const auto frozen = ParseFrozen<Whole>(scope_, from.SerializeAsString());
  ASSERT_TRUE(frozen);
  message->CopyFrom(*frozen.message);
  expected.CopyFrom(from);
  check();
  for (std::string& text : *message->mutable_texts()) text += " and a text that takes a buffer";
  for (std::string& text : *expected.mutable_texts()) text += " and a text that takes a buffer";
  check();
}

TEST_F(Repeated, AnElementMayBeAddedToItsOwnField) {
  auto* message = scope_.CreateMessage<Whole>();
  message->add_texts(std::string(100, 't'));
  message->add_numbers(7);
  for (int i = 0; i < 100; ++i) {
    message->add_texts(message->texts(0));
    message->mutable_numbers()->Add(message->numbers(0));
    message->add_numbers(message->numbers(0));
  }
  EXPECT_EQ(message->texts(100), std::string(100, 't'));
  EXPECT_EQ(message->numbers(200), 7);
}

TEST_F(Repeated, StringsInEveryWay) {
  auto* message = scope_.CreateMessage<Whole>();
  const std::string text(40, 'x');
  std::string given(300, 'g');
  const char* const buffer = given.data();
  message->add_texts(text);
  message->add_texts(std::move(given));
  message->add_texts(text.c_str());
  message->add_texts(text.data(), 20);
  *message->add_texts() = text;
  message->add_texts()->append(text);
  message->add_blobs(text.data(), 3);
  EXPECT_EQ(message->texts(1).data(), buffer);
  const std::vector<std::string> all(message->texts().begin(), message->texts().end());
  EXPECT_EQ(all, (std::vector<std::string>{text, std::string(300, 'g'), text, text.substr(0, 20),
                                           text, text}));
  // Cleared ones are taken first, with their memory.
  message->mutable_texts()->Clear();
  EXPECT_EQ(message->texts().ClearedCount(), 6);
  message->add_texts("again");
  message->add_texts(std::string(500, 'a'));
  EXPECT_EQ(message->texts().ClearedCount(), 4);
  EXPECT_EQ(message->texts(0), "again");
  const std::unique_ptr<std::string> last(message->mutable_texts()->ReleaseLast());
  EXPECT_EQ(*last, std::string(500, 'a'));
}

TEST_F(Repeated, AnotherThreadGoesTheStockWay) {
  auto* message = scope_.CreateMessage<Whole>();
  message->add_texts(std::string(40, '1'));
  for (int i = 0; i < 10; ++i) message->add_numbers(i);
  std::thread([&] {
    for (int i = 10; i < 1000; ++i) message->add_numbers(i);
    message->add_texts(std::string(40, '2'));
    message->add_parts()->set_name(std::string(40, 'p'));
  }).join();
  message->add_numbers(1000);
  message->add_parts();
  for (int i = 0; i <= 1000; ++i) ASSERT_EQ(message->numbers(i), i);
  EXPECT_EQ(message->texts(1), std::string(40, '2'));
  EXPECT_EQ(message->parts(0).name(), std::string(40, 'p'));
}

TEST_F(Repeated, TheArenaMayBeResetAndGoneOnWith) {
  auto& arena = MessageArena::Of(scope_).arena();
  for (int round = 0; round < 5; ++round) {
    auto* message = google::protobuf::Arena::CreateMessage<Whole>(&arena);
    for (int i = 0; i < 200; ++i) {
      message->add_numbers(i);
      message->add_texts(std::string(30, 't'));
      message->add_parts()->set_name("a name of more than fifteen bytes");
    }
    // What is left of the chunk is the arena's again, and stock code writes there.
    arena.Reset();
    auto* bytes = google::protobuf::Arena::CreateArray<char>(&arena, 8000);
    std::fill_n(bytes, 8000, 'b');
    arena.Reset();
  }
}

TEST_F(Repeated, OnTheHeapAndOnAStockArenaItIsProtobufsOwn) {
  google::protobuf::Arena arena;
  for (google::protobuf::Arena* const where :
       {static_cast<google::protobuf::Arena*>(nullptr), &arena}) {
    auto* message = google::protobuf::Arena::CreateMessage<Whole>(where);
    for (int i = 0; i < 100; ++i) {
      message->add_numbers(i);
      message->add_texts("a text of more than fifteen bytes");
      message->add_parts()->set_name("name");
    }
    EXPECT_EQ(message->numbers().GetArena(), where);
    const Whole copy(*message);
    EXPECT_EQ(copy.texts_size(), 100);
    EXPECT_EQ(copy.parts(99).name(), "name");
    if (where == nullptr) delete message;
  }
}

}  // namespace
}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
