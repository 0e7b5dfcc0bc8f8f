#include "bench/messages/wire_scan.h"

#include <algorithm>
#include <random>
#include <string>

#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include "bench/messages/utf8.h"
#include "bench/workloads/workloads.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/wire/test_wire.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/wide.pb.h"

namespace harena::bench {
namespace {

using google::protobuf::Message;
using pb::test::Field;
using pb::test::Number;
using pb::test::Tag;
using pb::test::Varint;

/// Compares the scan with protobuf on one type.
class Judge {
 public:
  explicit Judge(const Message& prototype)
      : scan_(prototype.GetDescriptor()), message_(prototype.New()) {}

  bool Agrees(std::string_view wire, bool* accepted = nullptr) {
    const bool parses = message_->ParseFromArray(wire.data(), static_cast<int>(wire.size()));
    if (accepted != nullptr) *accepted = parses;
    return scan_.Accepts(wire) == parses;
  }
  bool Accepts(std::string_view wire) { return scan_.Accepts(wire); }

 private:
  WireScan scan_;
  std::unique_ptr<Message> message_;
};

class WireScanTest : public testing::Test {
  pb::codec::test::SilentLog quiet_;
};

/// Each workload's first request and response with their types.
template <typename Visit>
void ForEachMessage(Visit&& visit) {
  for (const char* name : {"ranking_8k", "trips", "vehicles", "tile"}) {
    const Workload workload = LoadWorkload(name);
    const std::string& request = workload.requests.front();
    VisitMethod(workload.method, [&](auto method) {
      using Typed = decltype(method);
      visit(std::string(name) + " request", Typed::Request::default_instance(), request);
      visit(std::string(name) + " response", Typed::Response::default_instance(),
            ExpectedResponse(workload.method, request));
    });
  }
}

TEST_F(WireScanTest, AcceptsEveryWorkload) {
  for (const std::string& name : WorkloadNames()) {
    const Workload workload = LoadWorkload(name);
    VisitMethod(workload.method, [&](auto method) {
      Judge judge(decltype(method)::Request::default_instance());
      for (const std::string& wire : workload.requests) EXPECT_TRUE(judge.Accepts(wire)) << name;
    });
  }
}

TEST_F(WireScanTest, AgreesOnTruncatedMessages) {
  ForEachMessage([](const std::string& name, const Message& type, const std::string& wire) {
    Judge judge(type);
    // Every length of small messages, and some hundred of large ones; a prime step meets every
    // kind.
    const size_t step = wire.size() < 20'000 ? 1 : 2 * (wire.size() / 600) + 1;
    size_t accepted = 0, cuts = 0;
    for (size_t bytes = 0; bytes <= wire.size(); bytes += step, ++cuts) {
      bool parses = false;
      EXPECT_TRUE(judge.Agrees({wire.data(), bytes}, &parses)) << name << " cut at " << bytes;
      accepted += parses;
    }
    EXPECT_LT(accepted, cuts) << name;
  });
}

TEST_F(WireScanTest, AgreesOnChangedBytes) {
  std::mt19937_64 dice(7);
  size_t accepted = 0, refused = 0;
  ForEachMessage([&](const std::string& name, const Message& type, const std::string& wire) {
    Judge judge(type);
    const size_t changes = std::clamp<size_t>(20'000'000 / wire.size(), 20, 3000);
    for (size_t i = 0; i < changes; ++i) {
      std::string changed = wire;
      const size_t at = dice() % wire.size();
      const auto byte = static_cast<char>(dice());
      switch (dice() % 3) {
        case 0:
          changed[at] = byte;
          break;
        case 1:
          changed.erase(at, 1);
          break;
        default:
          changed.insert(at, 1, byte);
      }
      bool parses = false;
      EXPECT_TRUE(judge.Agrees(changed, &parses)) << name << " change " << i << " at " << at;
      ++(parses ? accepted : refused);
    }
  });
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(refused, 100u);
}

struct Case {
  const char* what;
  std::string wire;
  bool accepted;
};

void Check(const Message& type, const std::vector<Case>& cases) {
  Judge judge(type);
  for (const Case& one : cases) {
    EXPECT_TRUE(judge.Agrees(one.wire)) << one.what;
    EXPECT_EQ(judge.Accepts(one.wire), one.accepted) << one.what;
  }
}

std::string Nested(int levels) {
  std::string wire;
  for (int i = 0; i < levels; ++i) wire = Field(1, wire);
  return wire;
}

std::string NestedGroups(int levels) {
  using pb::test::kEndGroup, pb::test::kStartGroup;
  std::string wire;
  for (int i = 0; i < levels; ++i) wire = Tag(99, kStartGroup) + wire + Tag(99, kEndGroup);
  return wire;
}

TEST_F(WireScanTest, KnowsTheWire) {
  using pb::test::kEndGroup, pb::test::kLengthDelimited, pb::test::kStartGroup, pb::test::kVarint;
  using std::string_literals::operator""s;
  Check(test::Shapes::default_instance(),
        {{"nothing", "", true},
         {"field number 0", "\x02\x00"s, false},
         {"tag 0", "\x00"s, false},
         {"wire type 6", "\x0e\x00"s, false},
         {"wire type 7", "\x0f\x00"s, false},
         {"a tag of five bytes", "\x98\x80\x80\x80\x00\x01"s, true},
         {"a tag of six bytes", "\x98\x80\x80\x80\x80\x00\x01"s, false},
         {"a number of ten bytes", Tag(3, kVarint) + std::string(9, '\xff') + "\x01", true},
         {"a number of eleven bytes", Tag(3, kVarint) + std::string(10, '\xff') + "\x01", false},
         {"a length of five bytes", Tag(1, kLengthDelimited) + "\x81\x80\x80\x80\x00x"s, true},
         {"a length of six bytes", Tag(1, kLengthDelimited) + "\x81\x80\x80\x80\x80\x00x"s, false},
         {"a length of 2 GiB", Tag(1, kLengthDelimited) + Varint(uint64_t{1} << 31), false},
         {"a length of 2^35", Tag(1, kLengthDelimited) + Varint(uint64_t{1} << 35), false},
         {"text as a number", Number(1, 5), true},
         {"a message as a number", Number(6, 5), true},
         {"packed as single numbers", Number(8, 1) + Number(8, 300), true},
         {"single numbers as packed", Field(9, Varint(1) + Varint(300)), true},
         {"a packed run that ends early", Field(8, "\x01\x80"), false},
         {"a packed number of eleven bytes", Field(8, std::string(10, '\xff') + "\x01"), false},
         {"a number as a run", Field(3, "\x80"), true},
         {"an enum out of range", Number(17, 99), true},
         {"an unknown group", Tag(99, kStartGroup) + Number(1, 2) + Tag(99, kEndGroup), true},
         {"another group's end", Tag(99, kStartGroup) + Tag(98, kEndGroup), false},
         {"a group without end", Tag(99, kStartGroup) + Number(1, 2), false},
         {"an end without group", Tag(99, kEndGroup), false},
         {"a group's end in a message", Field(6, Tag(6, kEndGroup)), false}});
}

TEST_F(WireScanTest, KnowsDepth) {
  Check(test::KeptRecursive::default_instance(),
        {{"100 messages", Nested(100), true},
         {"101 messages", Nested(101), false},
         {"100 groups", NestedGroups(100), true},
         {"101 groups", NestedGroups(101), false},
         {"99 messages around a group", Field(1, NestedGroups(99)), true},
         {"100 messages around a group", Field(1, NestedGroups(100)), false}});
}

TEST_F(WireScanTest, KnowsUtf8) {
  Check(test::Shapes::default_instance(),
        {{"text", Field(1, "plain, \xc3\xa9, \xe2\x82\xac and \xf0\x9f\x98\x80"), true},
         {"broken text", Field(1, "plain and long enough for words \xff"), false},
         {"broken text in front", Field(1, "\xffplain and long enough for words"), false},
         {"broken bytes", Field(2, "\xff"), true},
         {"broken repeated text", Field(7, "\xff"), false},
         {"broken text in a oneof", Field(13, "\xff"), false},
         {"a broken map key", Field(11, Field(1, "\xff") + Number(2, 1)), false},
         {"broken text in a map's message", Field(12, Number(1, 1) + Field(2, Field(1, "\xff"))),
          false}});
  // proto2 does not look.
  Check(vector_tile::Tile::default_instance(),
        {{"broken proto2 text", Field(3, Number(15, 2) + Field(1, "\xff")), true}});
}

TEST_F(WireScanTest, KnowsRequiredFields) {
  Check(vector_tile::Tile::default_instance(),
        {{"all there", Field(3, Number(15, 2) + Field(1, "a")), true},
         {"no name", Field(3, Number(15, 2)), false},
         {"no version", Field(3, Field(1, "a")), false},
         {"a name of the wrong type", Field(3, Number(15, 2) + Number(1, 1)), false}});
}

TEST_F(WireScanTest, KnowsManyFields) {
  Check(test::WideList::default_instance(),
        {{"the last of 300", Field(1, Number(300, 1)), true},
         {"one more", Field(1, Number(301, 1)), true},
         {"a large number", Field(1, Number(536'870'911, 1)), true},
         {"the last of 300, cut off", Field(1, Tag(300, pb::test::kVarint)), false}});
}

TEST(Utf8, AllSequencesOfUpToThreeBytesAreAsProtobufHasThem) {
  // Behind ASCII, so that the quick way in is taken too.
  test::Shapes shapes;
  pb::codec::test::SilentLog quiet;
  std::mt19937_64 dice(11);
  for (int lead = 0; lead < 256; ++lead) {
    for (int second = 0; second < 256; second += 1) {
      std::string text = "0123456789";
      text += {static_cast<char>(lead), static_cast<char>(second)};
      const int more = static_cast<int>(dice() % 3);
      for (int i = 0; i < more; ++i) text += static_cast<char>(0x80 | dice() % 0x48);
      const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
      EXPECT_EQ(IsUtf8(begin, begin + text.size()), shapes.ParseFromString(Field(1, text)))
          << lead << " " << second << " and " << more << " more";
    }
  }
}

}  // namespace
}  // namespace harena::bench
