// Parses that somebody else starts, as frameworks do, held to a scope's budget all the same.
#include <string>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/arena/string_buffers.h"
#include "harena/pb/codec/test_safety.h"

namespace harena::pb::codec {
namespace {

constexpr Mode kArenaModes[] = {Mode::kArena, Mode::kPages, Mode::kCodec};

std::string LargeWire() {
  Whole message;
  for (int i = 0; i < 2000; ++i) Fill(*message.add_parts(), "part", Length::kMiddle);
  return message.SerializeAsString();
}

TEST(ExpectedParse, GivesTheSameMessage) {
  PagePool pool(TestOptions());
  const std::string wire = LargeWire();
  for (const Mode mode : kArenaModes) {
    Scope scope({.page_pool = &pool, .mode = mode});
    auto* message = scope.CreateMessage<Whole>();
    MessageArena& messages = MessageArena::Of(scope);
    messages.ExpectParse(*message, RequiredFields::kMayBeMissing);
    google::protobuf::io::ArrayInputStream input(wire.data(), static_cast<int>(wire.size()), 100);
    ASSERT_TRUE(message->ParseFromZeroCopyStream(&input)) << ToString(mode);
    EXPECT_EQ(BytesOf(*message), wire) << ToString(mode);
    EXPECT_FALSE(messages.refused_parse());
    EXPECT_FALSE(messages.malformed_parse());
    EXPECT_FALSE(messages.Expects(*message)) << "for one parse only";
  }
}

// Texts longer than what is kept to put them together, in input that comes in pieces.
TEST(ExpectedParse, LongTextsComeWhole) {
  PagePool pool(TestOptions());
  for (const size_t bytes :
       {size_t{60} << 10, size_t{64} << 10, size_t{65} << 10, size_t{1} << 20}) {
    Whole whole;
    whole.set_text(std::string(bytes, 'x'));
    whole.add_texts(std::string(bytes, 'y'));
    whole.add_texts(std::string(2 * bytes, 'z'));
    const std::string wire = whole.SerializeAsString();
    for (const Mode mode : kArenaModes) {
      for (const int piece_bytes : {100, 4000, 100'000}) {
        Scope scope({.page_pool = &pool, .mode = mode});
        auto* message = scope.CreateMessage<Whole>();
        MessageArena::Of(scope).ExpectParse(*message, RequiredFields::kMayBeMissing);
        google::protobuf::io::ArrayInputStream input(wire.data(), static_cast<int>(wire.size()),
                                                     piece_bytes);
        ASSERT_TRUE(message->ParseFromZeroCopyStream(&input));
        EXPECT_TRUE(BytesOf(*message) == wire)
            << ToString(mode) << ", " << bytes << " in pieces of " << piece_bytes;
      }
    }
  }
}

TEST(ExpectedParse, StaysWithinTheBudgetAndThrowsNothing) {
  PagePool pool(TestOptions());
  const std::string wire = LargeWire();
  for (const Mode mode : kArenaModes) {
    const size_t bytes_max = 4 * pool.options().page_bytes;
    Scope scope({.request_bytes_max = bytes_max, .page_pool = &pool, .mode = mode});
    auto* message = scope.CreateMessage<Whole>();
    MessageArena& messages = MessageArena::Of(scope);
    messages.ExpectParse(*message, RequiredFields::kMayBeMissing);
    EXPECT_FALSE(message->ParseFromString(wire)) << ToString(mode);
    ASSERT_TRUE(messages.refused_parse()) << ToString(mode);
    EXPECT_FALSE(messages.malformed_parse());
    EXPECT_STREQ(messages.refused_parse()->limit, "request_bytes_max");
    EXPECT_LE(scope.budget().bytes_used(), bytes_max + pool.options().page_bytes);
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(ExpectedParse, BadInputIsNoRefusal) {
  PagePool pool(TestOptions());
  for (const Mode mode : kArenaModes) {
    Scope scope({.page_pool = &pool, .mode = mode});
    auto* message = scope.CreateMessage<Whole>();
    MessageArena::Of(scope).ExpectParse(*message, RequiredFields::kMayBeMissing);
    EXPECT_FALSE(message->ParseFromString(LargeWire() + "\x0a"));
    EXPECT_FALSE(MessageArena::Of(scope).refused_parse());
    EXPECT_TRUE(MessageArena::Of(scope).malformed_parse());
  }
}

TEST(ExpectedParse, OnlyTheMessageThatWasNamed) {
  PagePool pool(TestOptions());
  Scope scope({.request_bytes_max = 4 * pool.options().page_bytes,
               .page_pool = &pool,
               .mode = Mode::kCodec});
  auto* guarded = scope.CreateMessage<Whole>();
  auto* other = scope.CreateMessage<Whole>();
  MessageArena::Of(scope).ExpectParse(*guarded, RequiredFields::kMayBeMissing);
  EXPECT_TRUE(other->ParseFromString(LargeWire())) << "nobody's frame stands";
  EXPECT_TRUE(MessageArena::Of(scope).Expects(*guarded));
}

}  // namespace
}  // namespace harena::pb::codec
