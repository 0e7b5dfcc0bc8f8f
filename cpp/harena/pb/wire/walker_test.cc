#include "harena/pb/wire/walker.h"

#include <string>

#include <gtest/gtest.h>

#include "harena/pb/wire/test_wire.h"
#include "harena/test/shapes.pb.h"

namespace harena::pb::wire {
namespace {

bool Walks(const std::string& wire) {
  return Walk(*Schemas::OfGenerated(*harena::test::Shapes::descriptor()), wire, 100).whole;
}

// protobuf reads five bytes, 35 bits, and takes 32 of them.
TEST(Walker, ReadsLongTagsAsProtobufDoes) {
  harena::test::Shapes message;
  const std::string unknown = "\x90\xda\xdd\xdf\x7d\x01";
  EXPECT_TRUE(message.ParseFromString(unknown));
  EXPECT_TRUE(Walks(unknown));
  const std::string sixth("\x90\xda\xdd\xdf\xfd\x00\x01", 7);
  EXPECT_FALSE(message.ParseFromString(sixth));
  EXPECT_FALSE(Walks(sixth));
  const std::string no_number = std::string("\x85\x80\x80\x80\x70") + "four";
  EXPECT_FALSE(message.ParseFromString(no_number));
  EXPECT_FALSE(Walks(no_number));
}

// protobuf would make room for what the string says, as the message around it says more.
TEST(Walker, StopsWhereLengthsGoBeyondTheWire) {
  const std::string leaf = pb::test::Varint(60'000'000) + "\x0a";
  EXPECT_FALSE(Walks("\x52" + leaf + pb::test::Varint(49'000'000) + "short"));
  EXPECT_FALSE(Walks("\x0a\x06short"));
  EXPECT_TRUE(Walks("\x0a\x05short"));
}

}  // namespace
}  // namespace harena::pb::wire
