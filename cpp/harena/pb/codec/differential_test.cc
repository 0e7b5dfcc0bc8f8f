// Good wire of every type, in every way into a message and in every size of pieces: the codec's
// messages and bytes are protobuf's.
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/codec/test_random_message.h"
#include "harena/test/codec_lite.pb.h"
#include "harena/test/codec_maps.pb.h"
#include "harena/test/codec_scalars.pb.h"

namespace harena::pb::codec::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;

const std::vector<ChunkSizes>& Sizes() {
  static const auto* sizes = new std::vector<ChunkSizes>{
      {1}, {2}, {3}, {5}, {7}, {16}, {17}, {31}, {64}, {0, 4}, {15, 1, 16}, {1 << 20}};
  return *sizes;
}

ChunkSizes RandomSizes(Random& random) {
  ChunkSizes sizes;
  for (size_t i = 1 + Below(random, 8); i > 0; --i) {
    sizes.push_back(static_cast<int>(Below(random, 70)));
  }
  sizes.push_back(1 + static_cast<int>(Below(random, 70)));
  return sizes;
}

std::string TestName(const testing::TestParamInfo<size_t>& info) {
  std::string name(Subjects()[info.param].name());
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
}

class EveryType : public testing::TestWithParam<size_t> {
 protected:
  EveryType() : subject_(Subjects()[GetParam()]), random_(GetParam() + 1) {}

  std::string RandomWire(int depth, int fields) {
    const std::unique_ptr<Message> message(subject_.prototype->New());
    FillRandomly(*message, random_, {.depth_max = depth, .fields_max = fields});
    return StockBytes(*message);
  }

  const Subject& subject_;
  Random random_;
  const SilentLog quiet_;
};

TEST_P(EveryType, RandomMessagesInEveryWay) {
  for (int round = 0; round < 25; ++round) {
    const std::string wire = RandomWire(4, 20 + 4 * round);
    for (int way = 0; way < kWays; ++way) {
      ASSERT_EQ(Difference(subject_, wire, static_cast<Way>(way), RandomSizes(random_)), "");
    }
  }
}

TEST_P(EveryType, PiecesOfEverySize) {
  for (int round = 0; round < 6; ++round) {
    const std::string wire = RandomWire(3, 60);
    for (const ChunkSizes& sizes : Sizes()) {
      ASSERT_EQ(Difference(subject_, wire, Way::kFrozen, sizes), "");
      ASSERT_EQ(Difference(subject_, wire, Way::kOpen, sizes), "");
    }
  }
}

// Strings and packed fields that no buffer of the codec's holds.
TEST_P(EveryType, LongFieldsInPieces) {
  for (int round = 0; round < 8; ++round) {
    const std::unique_ptr<Message> message(subject_.prototype->New());
    FillRandomly(*message, random_, {.depth_max = 2, .fields_max = 12, .long_bytes_max = 200'000});
    const std::string wire = StockBytes(*message);
    for (const ChunkSizes& sizes : std::initializer_list<ChunkSizes>{
             {1000}, {4096, 17}, {65'536}, {65'535, 1, 65'537}, {1 << 23}}) {
      ASSERT_EQ(Difference(subject_, wire, Way::kFrozen, sizes), "");
      ASSERT_EQ(Difference(subject_, wire, Way::kOpen, sizes), "");
    }
  }
}

// Where a small message is cut in two does not matter.
TEST_P(EveryType, CutAtEveryByte) {
  const std::string wire = RandomWire(2, 12).substr(0, 600);
  for (size_t at = 1; at < wire.size(); ++at) {
    ASSERT_EQ(Difference(subject_, wire, Way::kFrozen, {static_cast<int>(at), 1 << 20}), "");
  }
}

TEST_P(EveryType, Empty) {
  for (int way = 0; way < kWays; ++way) {
    EXPECT_EQ(Difference(subject_, "", static_cast<Way>(way), {1}), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EveryType, testing::Range(size_t{0}, Subjects().size()), TestName);

// The feeds and the tile of the workloads.
class Payload : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Payload, InEveryWay) {
  std::ifstream file(std::string(HARENA_TESTDATA "/") + GetParam().first, std::ios::binary);
  const std::string wire{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(wire.empty());
  const Subject& subject = SubjectNamed(GetParam().second);
  for (const Way way : {Way::kFrozen, Way::kFrozenFlat, Way::kThawed, Way::kOpenString}) {
    EXPECT_EQ(Difference(subject, wire, way, {8192, 8192, 8191, 17}), "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, Payload,
    testing::Values(std::pair("mbta-vehicle-positions.pb", "transit_realtime.FeedMessage"),
                    std::pair("mbta-trip-updates.pb", "transit_realtime.FeedMessage"),
                    std::pair("osm-montevideo-12-1410-2472.mvt", "vector_tile.Tile")));

void Collect(const Descriptor& type, std::set<std::string>& names) {
  if (type.options().map_entry()) return;
  names.insert(std::string(type.full_name()));
  for (int i = 0; i < type.nested_type_count(); ++i) Collect(*type.nested_type(i), names);
}

// A type that is added to the schemas must not be forgotten here.
TEST(SubjectsTest, NameEveryMessageOfTheTestSchemas) {
  std::set<std::string> named;
  std::set<std::string> wanted;
  for (const Subject& subject : Subjects()) {
    named.insert(std::string(subject.name()));
    const auto& file = *subject.prototype->GetDescriptor()->file();
    if (file.name().find("harena/test/") != 0) continue;
    for (int i = 0; i < file.message_type_count(); ++i) Collect(*file.message_type(i), wanted);
  }
  for (const std::string& name : wanted) EXPECT_TRUE(named.contains(name)) << name;
  EXPECT_EQ(named.size(), Subjects().size());
}

TEST(SubjectsTest, CarryTheCodecWhereItCanBe) {
  for (const auto* name :
       {"harena.test.codec.Scalars3", "harena.test.codec.Groups.Many", "harena.test.codec.Extended",
        "harena.test.codec.delete", "harena.test.Shapes2", "transit_realtime.FeedMessage"}) {
    EXPECT_TRUE(SubjectNamed(name).has_codec) << name;
  }
  for (const auto* name : {"harena.test.codec.Set", "harena.test.codec.Small",
                           "harena.test.codec.plain.Plain", "harena.test.codec.Outer"}) {
    EXPECT_FALSE(SubjectNamed(name).has_codec) << name;
  }
}

// Without this the tests might compare protobuf with itself.
TEST(SubjectsTest, AreReadAndWrittenByTheCodec) {
  harena::test::codec::Scalars3 heap;
  heap.set_plain_string("a text that does not fit into a string");
  heap.add_repeated_string("another text that does not fit into a string");
  const std::string wire = heap.SerializeAsString();
  Scope scope({.mode = Mode::kCodec});
  const auto frozen = ParseFrozen<harena::test::codec::Scalars3>(scope, wire);
  ASSERT_TRUE(frozen);
  for (const std::string* text :
       {&frozen.message->plain_string(), &frozen.message->repeated_string(0)}) {
    // Without the codec's parser protobuf's strings, on the heap.
    EXPECT_EQ(PagePool::OwnerOf(text->data()) != nullptr, HARENA_CODEC != 0);
  }
  // Sorted without being asked to, which protobuf's own code does not do.
  harena::test::codec::MapKeys3 keys;
  for (int i = 0; i < 100; ++i) (*keys.mutable_text_by_int32())[i] = "value";
  auto* open = scope.CreateMessage<harena::test::codec::MapKeys3>();
  *open = keys;
  EXPECT_NE(keys.SerializeAsString(), StockBytes(keys));
  EXPECT_EQ(open->SerializeAsString(), StockBytes(keys));
}

TEST(LiteTest, IsProtobufsOwn) {
  using harena::test::codec::lite::Lite;
  static_assert(!HasCodec<Lite>);
  Lite expected;
  expected.set_text("a text that does not fit into a string");
  expected.add_children()->set_text("child");
  (*expected.mutable_by_text())["key"] = "value";
  Scope scope({.mode = Mode::kCodec});
  const Frozen<Lite> frozen = ParseFrozen<Lite>(scope, expected.SerializeAsString());
  ASSERT_TRUE(frozen);
  EXPECT_EQ(frozen.message->SerializeAsString(), expected.SerializeAsString());
}

}  // namespace
}  // namespace harena::pb::codec::test
