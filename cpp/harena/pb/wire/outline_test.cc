#include "harena/pb/wire/outline.h"

#include <string>

#include <gtest/gtest.h>

#include "harena/pb/test_wire.h"
#include "harena/test/shapes.pb.h"

namespace harena::pb::wire {
namespace {

using pb::test::Field;
using pb::test::Varint;

const Shape* TestShape() { return Shapes::OfGenerated(*harena::test::Shapes::descriptor()); }

// How much of it is known after it was followed to its end, in chunks of so many bytes.
size_t KnownOf(const std::string& wire, size_t chunk_bytes = SIZE_MAX) {
  Outline outline(TestShape(), wire.size());
  for (size_t at = 0; at < wire.size(); at += std::min(chunk_bytes, wire.size() - at)) {
    const size_t bytes = std::min(chunk_bytes, wire.size() - at);
    size_t fields_left = SIZE_MAX;
    outline.Follow({.data = wire.data() + at, .bytes = bytes, .at = at}, at + bytes - 1,
                   fields_left);
  }
  return outline.known_end();
}

std::string HonestWire() {
  harena::test::Shapes message;
  message.set_text("text");
  message.set_number(-1);
  message.set_ratio(0.5);
  message.add_leaves()->set_name("leaf");
  (*message.mutable_leaf_by_number())[7].set_weight(8);
  message.add_children()->add_children()->add_texts("inner");
  message.add_packed(300);
  return message.SerializeAsString() + Field(1999, "unknown") + "\x85\x7d" + "four";
}

TEST(Outline, GoesThroughAllOfAMessage) {
  const std::string wire = HonestWire();
  EXPECT_EQ(KnownOf(wire), wire.size());
  // A long field that goes over chunks is passed over with them.
  const std::string blob = Field(2, std::string(10'000, '\xff'));
  EXPECT_EQ(KnownOf(blob, 1'000), blob.size());
}

// No message in it can say to be longer than it is, so what is in it does not matter.
TEST(Outline, PassesOverMessagesThatHoldNone) {
  const std::string wire = Field(10, "\xff no message") + Field(1, "text");
  EXPECT_EQ(KnownOf(wire), wire.size());
  EXPECT_LT(KnownOf(Field(15, "\xff no message") + Field(1, "text")), wire.size());
}

TEST(Outline, NothingIsKnownWithoutAShape) {
  Outline outline(nullptr, 10);
  size_t fields_left = SIZE_MAX;
  outline.Follow({.data = "\x0a\x08text", .bytes = 6, .at = 0}, 5, fields_left);
  EXPECT_EQ(outline.known_end(), 0u);
}

// Each after a field that is known.
TEST(Outline, StopsBeforeWhatItCannotFollow) {
  const std::string before = Field(1, "before");
  const std::string leaf = Field(1, "name");
  for (const std::string& wire : {
           Field(1, "text").replace(1, 1, Varint(60)),            // a string that is too long
           "\x52" + Varint(90) + leaf,                            // a message
           "\x7a" + Varint(leaf.size() - 1) + leaf,               // a string beyond its message
           "\x7a" + Varint(leaf.size() + 2) + leaf + "\x0a\x7f",  // one in the message behind it
           std::string("\x0b\x0c"),                               // a group
           std::string("\x00\x01", 2),                            // no field
           std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),  // no varint
           std::string("\x12\xff\xff\xff\xff\x7f"),                          // no length
           std::string("\x0f"),                                              // no wire type
       }) {
    const size_t known = KnownOf(before + wire + Field(1, std::string(50, 'x')));
    EXPECT_GE(known, before.size());
    EXPECT_LE(known, before.size() + 2 + leaf.size());
    EXPECT_LT(known, before.size() + wire.size());
  }
}

TEST(Outline, StopsWhereAChunkWasPassed) {
  const std::string wire = Field(1, "one") + Field(1, "two");
  Outline outline(TestShape(), wire.size());
  size_t fields_left = SIZE_MAX;
  outline.Follow({.data = wire.data() + 5, .bytes = 5, .at = 5}, 9, fields_left);
  EXPECT_EQ(outline.known_end(), 0u);
}

// Short fields near the end of what there is are read as those far from it.
TEST(Outline, SaysTheSameWhateverIsAskedBefore) {
  const std::string honest =
      HonestWire() + Field(10, Field(1, std::string(300, 'n'))) + HonestWire();
  const std::string inner_lie = "\x52" + Varint(90) + Field(1, "name");
  for (const std::string& wire : {honest, honest + inner_lie, Field(15, honest + "\x08" + "\xff"),
                                  Field(15, Field(15, honest) + "\x7a\x05")}) {
    const size_t known = KnownOf(wire);
    for (size_t i = 0; i < wire.size(); ++i) {
      Outline outline(TestShape(), wire.size());
      size_t fields_left = SIZE_MAX;
      // Asked about one place after the other, of a chunk that is all there is.
      for (size_t place = i; place < wire.size(); place += i + 1) {
        outline.Follow({.data = wire.data(), .bytes = wire.size(), .at = 0}, place, fields_left);
      }
      outline.Follow({.data = wire.data(), .bytes = wire.size(), .at = 0}, wire.size() - 1,
                     fields_left);
      EXPECT_EQ(outline.known_end(), known) << i;
    }
  }
}

TEST(Outline, CountsFieldsDown) {
  const std::string wire = Field(1, "one") + Field(1, "two") + Field(1, "three");
  Outline outline(TestShape(), wire.size());
  const Outline::Chunk chunk = {.data = wire.data(), .bytes = wire.size(), .at = 0};
  size_t fields_left = 2;
  outline.Follow(chunk, wire.size() - 1, fields_left);
  EXPECT_EQ(outline.known_end(), 10u);
  EXPECT_EQ(fields_left, 0u);
  fields_left = 2;
  outline.Follow(chunk, wire.size() - 1, fields_left);
  EXPECT_EQ(outline.known_end(), wire.size());
  EXPECT_EQ(fields_left, 1u);
}

TEST(Outline, GoesAsDeepAsItHasRoomFor) {
  for (const size_t depth : {10u, 40u}) {
    std::string wire = Field(1, "text");
    for (size_t i = 0; i < depth; ++i) wire = Field(15, wire);
    EXPECT_EQ(KnownOf(wire) == wire.size(), depth == 10) << depth;
  }
}

}  // namespace
}  // namespace harena::pb::wire
