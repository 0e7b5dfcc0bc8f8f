// decoded_ratio_max and depth_max, and what unknown fields take of a budget.
#include <string>

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/call/method.h"
#include "harena/pb/layout/family.h"
#include "harena/pb/parse/parse.h"
#include "harena/pb/parse/test_stream.h"
#include "harena/pb/wire/test_wire.h"
#include "harena/scope/scope_pool.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/wide.pb.h"

namespace harena::pb {
namespace {

using google::protobuf::ListValue;
using harena::test::KeptRecursive;
using harena::test::Shapes;
using harena::test::WideList;
using test::Field;
using test::Number;
using test::Repeat;
using test::Tag;
using ::testing::AllOf;
using ::testing::HasSubstr;

class DecodeLimitsTest : public testing::TestWithParam<Mode> {
 protected:
  Scope Make(const DecodeLimits& limits, size_t request_bytes_max = kUnlimitedBytes) {
    return Scope({.request_bytes_max = request_bytes_max,
                  .page_pool = &pool_,
                  .mode = GetParam(),
                  .decode_limits = limits});
  }
  template <typename T>
  ParseResult ParseOn(Scope& scope, const std::string& wire) {
    return ParseFrozen<T>(scope, wire).result;
  }

  PagePool pool_{TestOptions()};
};
INSTANTIATE_TEST_SUITE_P(Modes, DecodeLimitsTest,
                         testing::Values(Mode::kArena, Mode::kPages, Mode::kCodec),
                         [](const auto& info) { return std::string(ToString(info.param)); });

TEST_P(DecodeLimitsTest, TheRatioRefusesWhatTheRequestsLimitLetsPass) {
  const std::string bomb = test::WideBomb(10'000);
  {
    Scope scope = Make({.ratio_max = 100, .floor_bytes = kMiB}, 64 * kMiB);
    const size_t before = scope.budget().bytes_used();
    const ParseResult result = ParseOn<WideList>(scope, bomb);
    ASSERT_EQ(result.status, ParseStatus::kRefused);
    EXPECT_STREQ(result.refusal.limit, kDecodedRatioMax);
    EXPECT_THAT(result.refusal.Message(),
                AllOf(HasSubstr("decoded_ratio_max is 100: 20000 bytes on the wire may take "
                                "2000000 bytes (decoded_floor_bytes is 1048576)"),
                      HasSubstr("more were wanted")));
    EXPECT_LE(scope.budget().bytes_used(), before + 2'000'000 + 64 * kKiB);
    // What the handler takes is bounded by the request's limit again.
    EXPECT_NE(scope.arena().TryAllocate(4 * kMiB), nullptr);
  }
  Scope large = Make({.ratio_max = 4000, .floor_bytes = kMiB}, 128 * kMiB);
  EXPECT_TRUE(ParseOn<WideList>(large, bomb));
  Scope floor = Make({.ratio_max = 1, .floor_bytes = 80 * kMiB}, 128 * kMiB);
  EXPECT_TRUE(ParseOn<WideList>(floor, bomb));
}

TEST_P(DecodeLimitsTest, TheLowerOfTwoLimitsIsNamed) {
  Scope scope = Make({.ratio_max = 100, .floor_bytes = 8 * kMiB}, kMiB);
  const ParseResult result = ParseOn<WideList>(scope, test::WideBomb(10'000));
  ASSERT_EQ(result.status, ParseStatus::kRefused);
  EXPECT_STREQ(result.refusal.limit, kRequestBytesMax);
}

std::string Nested(int levels) {
  std::string wire;
  for (int i = 1; i < levels; ++i) wire = Field(1, Field(6, wire));
  return wire;
}

// Lists in values in lists: two levels each.
TEST_P(DecodeLimitsTest, DepthIsBoundedAndSaid) {
  for (const int levels : {1, 10, 11, 30}) {
    Scope scope = Make({.depth_max = 19});
    const std::string wire = Nested(levels);
    const ParseResult result = ParseOn<ListValue>(scope, wire);
    if (levels <= 10) {
      EXPECT_TRUE(result) << levels;
      continue;
    }
    ASSERT_EQ(result.status, ParseStatus::kRefused) << levels;
    EXPECT_STREQ(result.refusal.limit, kDepthMax);
    EXPECT_EQ(result.refusal.Message(), "depth_max is 19 levels, and the request nests deeper");
  }
}

TEST_P(DecodeLimitsTest, DepthOfAStreamIsSaidToo) {
  const std::string deep = Nested(30);
  for (const std::string& wire : {deep, deep.substr(0, 5)}) {
    Scope scope = Make({.depth_max = 19});
    test::ChunkedStream stream(wire, 7);
    auto& message = *scope.CreateMessage<ListValue>();
    EXPECT_EQ(Parse(scope, stream, wire.size(), message).status,
              wire.size() == deep.size() ? ParseStatus::kRefused : ParseStatus::kMalformed);
  }
}

// An unknown group of four bytes takes more than ten times as much of the heap, which no block hook
// sees.
TEST_P(DecodeLimitsTest, UnknownFieldsAreChargedBeforeTheyAreThere) {
  const std::string flood = Repeat(Tag(90, test::kStartGroup) + Tag(90, test::kEndGroup), 50'000);
  Scope scope = Make({}, 2 * kMiB);
  const ParseResult result = ParseOn<Shapes>(scope, flood);
  ASSERT_EQ(result.status, ParseStatus::kRefused);
  EXPECT_STREQ(result.refusal.limit, kRequestBytesMax);
  for (const size_t bytes_max : {6 * kMiB, 16 * kMiB, 64 * kMiB}) {
    Scope roomy = Make({}, bytes_max);
    EXPECT_TRUE(ParseOn<Shapes>(roomy, flood)) << bytes_max;
    EXPECT_GE(roomy.budget().bytes_used(), 50'000 * 40u) << bytes_max;
    // Newer protobufs take less for a byte of wire at most. The most is charged where that is a
    // small part of the limit.
    EXPECT_LE(roomy.budget().bytes_used(),
              HARENA_PROTOBUF_3_21 ? 5 * kMiB : 6 * kMiB + bytes_max / 8)
        << bytes_max;
  }
}

#if HARENA_CODEC
// Without any option: what decodes into more than 64 times its wire, above 64 MiB.
TEST(SafeByDefault, ModeCodecRefusesABomb) {
  PagePool pool(TestOptions());
  const std::string bomb = test::WideBomb(30'000);
  {
    Scope scope({.page_pool = &pool});
    const ParseResult result = ParseFrozen<WideList>(scope, bomb).result;
    ASSERT_EQ(result.status, ParseStatus::kRefused);
    EXPECT_THAT(
        result.refusal.Message(),
        HasSubstr("decoded_ratio_max is 64: 60000 bytes on the wire may take 67108864 bytes"));
    EXPECT_LE(scope.budget().bytes_used(), 64 * kMiB + 2 * pool.options().page_bytes);
    EXPECT_EQ(Parse(scope, bomb, *scope.CreateMessage<WideList>()).status, ParseStatus::kRefused);
  }
  {
    Scope lifted({.page_pool = &pool, .decode_limits = {.ratio_max = kUnlimitedRatio}});
    EXPECT_TRUE(ParseFrozen<WideList>(lifted, bomb));
  }
  {
    Scope pages({.page_pool = &pool, .mode = Mode::kPages});
    EXPECT_TRUE(ParseFrozen<WideList>(pages, bomb));
  }
  // As where a framework parses.
  Scope scope({.page_pool = &pool});
  auto& message = *scope.CreateMessage<WideList>();
  MessageArena::Of(scope).ExpectParse(message, RequiredFields::kMayBeMissing);
  EXPECT_FALSE(message.ParsePartialFromString(bomb));
  ASSERT_TRUE(MessageArena::Of(scope).refused_parse());
  EXPECT_STREQ(MessageArena::Of(scope).refused_parse()->limit, kDecodedRatioMax);
}
#endif

TEST(RefusalCountsTest, EachLimitHasItsOwn) {
  PagePool pool(TestOptions());
  Method method("m", {.page_pool = &pool}, Shapes::default_instance(), Shapes::default_instance(),
                {});
  for (const char* limit : {kRequestBytesMax, kProcessBytesMax, kProcessBytesMax, kDecodedRatioMax,
                            kDepthMax, "memory"}) {
    static_cast<void>(method.Refuse({.limit = limit}));
  }
  const MethodStats stats = method.stats();
  EXPECT_EQ(stats.refused, 6u);
  EXPECT_EQ(stats.refused_by.request_bytes_max, 1u);
  EXPECT_EQ(stats.refused_by.process_bytes_max, 2u);
  EXPECT_EQ(stats.refused_by.decoded_ratio_max, 1u);
  EXPECT_EQ(stats.refused_by.depth_max, 1u);
  EXPECT_EQ(stats.refused_by.memory, 1u);
}

TEST(DecodeOptions, AreChecked) {
  EXPECT_NE(Options{.decoded_ratio_max = 0.5}.Validate(), std::nullopt);
  EXPECT_NE(Options{.depth_max = 101}.Validate(), std::nullopt);
  EXPECT_NE(Options{.depth_max = -1}.Validate(), std::nullopt);
  EXPECT_NE((Options{.mode = Mode::kHeap, .decoded_ratio_max = 10}.Validate()), std::nullopt);
  EXPECT_NE((Options{.mode = Mode::kHeap, .depth_max = 10}.Validate()), std::nullopt);
  EXPECT_EQ((Options{.decoded_ratio_max = 10, .depth_max = 100}.Validate()), std::nullopt);
  EXPECT_EQ((Options{.mode = Mode::kHeap, .decoded_ratio_max = kUnlimitedRatio}.Validate()),
            std::nullopt);
}

}  // namespace
}  // namespace harena::pb
