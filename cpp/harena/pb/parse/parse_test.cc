// Parsing within a budget: what is said about good, bad and greedy input.
#include "harena/pb/parse/parse.h"

#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/codec/registered.h"
#include "harena/pb/parse/test_stream.h"
#include "harena/pb/wire/test_wire.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/shapes2.pb.h"
#include "harena/test/wide.pb.h"

namespace harena::pb {
namespace {

using google::protobuf::util::MessageDifferencer;
using harena::test::Shapes;
using harena::test::Shapes2;
using harena::test::WideList;
using test::ChunkedStream;
using test::Field;
using test::Number;
using test::Repeat;
using test::Tag;

Shapes SomeShapes() {
  Shapes shapes;
  shapes.set_text("some text that does not fit into a string itself");
  shapes.set_maybe_number(0);
  shapes.mutable_leaf()->set_name("leaf");
  for (int i = 0; i < 200; ++i) {
    shapes.add_texts(std::string(static_cast<size_t>(i), 'x'));
    shapes.add_packed(i - 100);
    shapes.add_unpacked(int64_t{1} << (i % 63));
    shapes.add_leaves()->set_weight(i);
    (*shapes.mutable_counts())[std::to_string(i)] = i;
    (*shapes.mutable_leaf_by_number())[i].set_name("by number");
  }
  shapes.set_choice_text("chosen");
  shapes.add_children()->add_children()->set_ratio(0.5);
  return shapes;
}

class ParseTest : public testing::Test {
 protected:
  ~ParseTest() override { EXPECT_EQ(pool_.stats().bytes_in_use, 0u); }
  Scope MakeScope(size_t limit = kUnlimitedBytes) {
    return Scope({.request_bytes_max = limit, .page_pool = &pool_});
  }

  PagePool pool_{TestOptions()};
};

TEST_F(ParseTest, ContiguousAndInPieces) {
  const Shapes expected = SomeShapes();
  const std::string wire = expected.SerializeAsString();
  for (const size_t chunk_bytes : {size_t{0}, size_t{1}, size_t{7}, size_t{100}, size_t{4096}}) {
    Scope scope = MakeScope();
    auto* message = scope.CreateMessage<Shapes>();
    message->set_number(99);  // what was there before is gone
    if (chunk_bytes == 0) {
      EXPECT_TRUE(Parse(scope, wire, *message));
    } else {
      ChunkedStream stream(wire, chunk_bytes);
      EXPECT_TRUE(Parse(scope, stream, wire.size(), *message));
    }
    EXPECT_TRUE(MessageDifferencer::Equals(*message, expected)) << chunk_bytes;
    EXPECT_EQ(BudgetFrame::Current(), nullptr);
  }
}

TEST_F(ParseTest, NothingAtAllIsAnEmptyMessage) {
  Scope scope = MakeScope();
  auto* message = scope.CreateMessage<Shapes>();
  EXPECT_TRUE(Parse(scope, "", *message));
  ChunkedStream stream("", 10);
  EXPECT_TRUE(Parse(scope, stream, 0, *message));
  EXPECT_EQ(message->ByteSizeLong(), 0u);
}

TEST_F(ParseTest, BadInputIsMalformed) {
  const std::string wires[] = {
      "\xff\xff\xff",
      Tag(1, test::kLengthDelimited) + "\x7f too short",
      Tag(1, test::kLengthDelimited) + std::string("\xff\xff\xff\xff\x0f", 5),
      Field(1, "\xc3\x28"),                 // a proto3 string that is not UTF-8
      Tag(3, test::kVarint),                // ends in the middle
      Number(3, 1) + std::string(1, '\0'),  // field number 0
      Tag(4, test::kEndGroup),
      SomeShapes().SerializeAsString().substr(0, 1000),
  };
  for (const std::string& wire : wires) {
    Scope scope = MakeScope();
    const ParseResult contiguous = Parse(scope, wire, *scope.CreateMessage<Shapes>());
    EXPECT_EQ(contiguous.status, ParseStatus::kMalformed) << testing::PrintToString(wire);
    EXPECT_FALSE(contiguous);
    ChunkedStream stream(wire, 3);
    const ParseResult chunked = Parse(scope, stream, wire.size(), *scope.CreateMessage<Shapes>());
    EXPECT_EQ(chunked.status, ParseStatus::kMalformed) << testing::PrintToString(wire);
  }
}

TEST_F(ParseTest, AMissingRequiredFieldIsMalformed) {
  Scope scope = MakeScope();
  EXPECT_EQ(Parse(scope, Field(2, "text"), *scope.CreateMessage<Shapes2>()).status,
            ParseStatus::kMalformed);
  EXPECT_TRUE(Parse(scope, Number(1, 5), *scope.CreateMessage<Shapes2>()));
}

TEST_F(ParseTest, InputOfAnotherLengthThanSaidIsMalformed) {
  Scope scope = MakeScope();
  const std::string wire = Number(3, 7) + Number(3, 8);
  for (const size_t said : {wire.size() - 1, wire.size() + 1, size_t{1} << 40}) {
    ChunkedStream stream(wire, 3);
    EXPECT_EQ(Parse(scope, stream, said, *scope.CreateMessage<Shapes>()).status,
              ParseStatus::kMalformed)
        << said;
  }
}

// A message that ends before the input does: with tag 0, or with the end of a group that never
// began. The bytes behind it have been read ahead from a later block, and gRPC's reader ends the
// process when it is asked to take back more than its last block.
TEST_F(ParseTest, AnEarlyEndIsMalformedWhateverTheBlocks) {
  for (const char end : {'\0', '\x0c'}) {
    const auto [before, behind] = test::EndsEarly(end);
    const std::string wire = before + behind;
    for (const Mode mode : {Mode::kArena, Mode::kPages, Mode::kCodec}) {
      for (const size_t limit : {kUnlimitedBytes, 64 * kMiB}) {
        for (size_t block_bytes = 1; block_bytes <= wire.size(); ++block_bytes) {
          Scope scope({.request_bytes_max = limit, .page_pool = &pool_, .mode = mode});
          ChunkedStream stream(wire, block_bytes);
          EXPECT_EQ(Parse(scope, stream, wire.size(), *scope.CreateMessage<Shapes>()).status,
                    ParseStatus::kMalformed)
              << ToString(mode) << ", blocks of " << block_bytes;
          ChunkedStream again(wire, block_bytes);
          EXPECT_EQ(ParseFrozen<Shapes>(scope, again, wire.size()).result.status,
                    ParseStatus::kMalformed)
              << ToString(mode) << ", blocks of " << block_bytes;
        }
      }
    }
  }
}

class ThrowingStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  bool Next(const void** data, int* size) override {
    if (std::exchange(given_, true)) throw std::runtime_error("the connection was reset");
    *data = "\x0a\x1e";
    *size = 2;
    return true;
  }
  void BackUp(int) override {}
  bool Skip(int) override { return false; }
  int64_t ByteCount() const override { return 0; }

 private:
  bool given_ = false;
};

TEST_F(ParseTest, AStreamThatThrowsIsMalformed) {
  for (const size_t limit : {kUnlimitedBytes, 64 * kMiB}) {
    Scope scope = MakeScope(limit);
    ThrowingStream stream;
    EXPECT_EQ(Parse(scope, stream, 100, *scope.CreateMessage<Shapes>()).status,
              ParseStatus::kMalformed);
    EXPECT_EQ(BudgetFrame::Current(), nullptr);
  }
}

// A string that claims 40 MB in a wire of a few bytes must not make anybody reserve them.
TEST_F(ParseTest, ADeclaredLengthReservesNothing) {
  if (!Capabilities().codec) GTEST_SKIP() << "protobuf's own parser reserves up to 50 MB";
  Scope scope = MakeScope();
  const std::string wire = Tag(1, test::kLengthDelimited) + test::Varint(40'000'000) + "short";
  auto* message = scope.CreateMessage<Shapes>();
  ChunkedStream stream(wire, 4);
  EXPECT_EQ(Parse(scope, stream, wire.size(), *message).status, ParseStatus::kMalformed);
  EXPECT_LT(message->text().capacity(), 1000u);
}

TEST_F(ParseTest, ARefusalSaysWhich) {
  Scope scope = MakeScope(kMiB);
  const std::string wire = test::WideBomb();
  const ParseResult result = Parse(scope, wire, *scope.CreateMessage<WideList>());
  EXPECT_EQ(result.status, ParseStatus::kRefused);
  EXPECT_FALSE(result);
  EXPECT_STREQ(result.refusal.limit, "request_bytes_max");
  EXPECT_EQ(result.refusal.bytes_max, kMiB);
  EXPECT_GE(result.refusal.bytes_used, kMiB / 2);
  EXPECT_THAT(result.refusal.Message(), testing::HasSubstr("request_bytes_max is 1048576"));
  EXPECT_EQ(BudgetFrame::Current(), nullptr);
  ChunkedStream stream(wire, 1000);
  EXPECT_EQ(Parse(scope, stream, wire.size(), *scope.CreateMessage<WideList>()).status,
            ParseStatus::kRefused);
}

TEST_F(ParseTest, WireThatDoesNotFitTheBudgetIsRefusedUnread) {
  Scope scope = MakeScope(kMiB);
  auto* message = scope.CreateMessage<Shapes>();
  const size_t before_bytes = scope.budget().bytes_used();
  const ParseResult result = Parse(scope, Field(1, std::string(kMiB, 'x')), *message);
  EXPECT_EQ(result.status, ParseStatus::kRefused);
  EXPECT_EQ(scope.budget().bytes_used(), before_bytes);
  EXPECT_TRUE(message->text().empty());
}

TEST_F(ParseTest, TheWireIsChargedForTheStringsItMayLeaveOnTheHeap) {
  Scope scope = MakeScope();
  auto* message = scope.CreateMessage<Shapes>();
  const size_t before_bytes = scope.budget().bytes_used();
  const std::string wire = Field(1, std::string(300'000, 'x'));
  EXPECT_TRUE(Parse(scope, wire, *message));
  EXPECT_GE(scope.budget().bytes_used(), before_bytes + 300'000);
}

TEST_F(ParseTest, TheProcessAndTheSystemRefuseToo) {
  Budget process("process_bytes_max", kMiB);
  FailingPageSource source;
  PagePoolOptions options = TestOptions();
  options.budget = &process;
  PagePool pool(options, source);
  {
    Scope scope({.page_pool = &pool});
    const ParseResult result = Parse(scope, test::WideBomb(), *scope.CreateMessage<WideList>());
    EXPECT_EQ(result.status, ParseStatus::kRefused);
    EXPECT_STREQ(result.refusal.limit, "process_bytes_max");
  }
  process.set_bytes_max(kUnlimitedBytes);
  Scope scope({.page_pool = &pool});
  source.FailAfter(1);
  const ParseResult result = Parse(scope, test::WideBomb(), *scope.CreateMessage<WideList>());
  EXPECT_EQ(result.status, ParseStatus::kRefused);
  EXPECT_STREQ(result.refusal.limit, "memory");
}

TEST_F(ParseTest, DepthIsBounded) {
  std::string nested;
  for (int i = 0; i < 500; ++i) nested = Field(15, nested);
  std::string groups;
  for (int i = 0; i < 500; ++i) {
    groups = Tag(50, test::kStartGroup) + groups + Tag(50, test::kEndGroup);
  }
  for (const std::string& wire : {nested, groups}) {
    Scope scope = MakeScope();
    EXPECT_EQ(Parse(scope, wire, *scope.CreateMessage<Shapes>()).status, ParseStatus::kMalformed);
  }
}

}  // namespace
}  // namespace harena::pb
