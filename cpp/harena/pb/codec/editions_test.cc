// Schemas of editions, whose fields say one by one what proto2 and proto3 say for all.
#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include "harena/pb/arena/message.h"
#include "harena/pb/codec/access.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/codec/test_random_message.h"
#include "harena/test/codec_editions.pb.h"

namespace harena::pb::codec::test {
namespace {

using harena::test::codec::Edition;
using harena::test::codec::EditionCord;

static_assert(HasCodec<Edition> && !HasCodec<EditionCord>);

std::string DeterministicBytes(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    EXPECT_TRUE(message.SerializePartialToCodedStream(&out));
  }
  return bytes;
}

class EditionsTest : public testing::TestWithParam<uint64_t> {
  const SilentLog quiet_;
};

TEST_P(EditionsTest, AreWrittenAsProtobufDoes) {
  Random random(GetParam());
  for (int i = 0; i < 100; ++i) {
    Scope scope({.mode = Mode::kCodec});
    Edition stock;
    FillRandomly(stock, random);
    auto* message = scope.CreateMessage<Edition>();
    message->CopyFrom(stock);
    const std::string expected = DeterministicBytes(stock);
    EXPECT_EQ(message->ByteSizeLong(), expected.size());
    EXPECT_EQ(message->SerializePartialAsString(), expected);
  }
}

TEST_P(EditionsTest, AlsoBelowAMessageOfProtobufsOwn) {
  Random random(GetParam());
  for (int i = 0; i < 20; ++i) {
    Scope scope({.mode = Mode::kCodec});
    EditionCord stock;
    FillRandomly(*stock.mutable_inside(), random);
    stock.set_rope("a rope");
    auto* message = scope.CreateMessage<EditionCord>();
    message->CopyFrom(stock);
    EXPECT_EQ(DeterministicBytes(*message), DeterministicBytes(stock));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EditionsTest, testing::Range(uint64_t{1}, uint64_t{5}));

}  // namespace
}  // namespace harena::pb::codec::test
