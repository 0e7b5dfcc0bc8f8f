// Wire that was damaged: cut off, flipped, longer, shorter, in another order. The codec says no
// where protobuf says no, and reads the same where it says yes.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/codec/test_random_message.h"
#include "harena/pb/codec/test_wire_mutation.h"

namespace harena::pb::codec::test {
namespace {

using google::protobuf::Message;

class Damaged : public testing::TestWithParam<size_t> {
 protected:
  Damaged() : subject_(Subjects()[GetParam()]), random_(GetParam() + 1000) {}

  std::string RandomWire(int fields) {
    const std::unique_ptr<Message> message(subject_.prototype->New());
    FillRandomly(*message, random_, {.depth_max = 3, .fields_max = fields});
    return StockBytes(*message);
  }
  Way RandomWay() { return static_cast<Way>(Below(random_, kWays)); }
  ChunkSizes RandomSizes() {
    const size_t bytes_max = OneIn(random_, 2) ? 40 : 1000;
    return {static_cast<int>(1 + Below(random_, bytes_max)),
            static_cast<int>(Below(random_, bytes_max))};
  }

  const Subject& subject_;
  Random random_;
  const SilentLog quiet_;
};

TEST_P(Damaged, TruncatedAtEveryByte) {
  const std::string wire = RandomWire(15).substr(0, 500);
  for (size_t size = 0; size < wire.size(); ++size) {
    const std::string_view cut(wire.data(), size);
    ASSERT_EQ(Difference(subject_, cut, Way::kFrozen, {3, 17}), "");
    ASSERT_EQ(Difference(subject_, cut, Way::kFrozenFlat, {1 << 20}), "");
    ASSERT_EQ(Difference(subject_, cut, RandomWay(), {64}), "");
  }
}

TEST_P(Damaged, ChangedOnceOrOften) {
  for (int round = 0; round < 60; ++round) {
    const std::string whole = RandomWire(25);
    std::string wire = whole;
    for (int changes = 0; changes < 6; ++changes) {
      wire = Mutate(changes % 2 == 0 ? whole : wire, random_);
      ASSERT_EQ(Difference(subject_, wire, RandomWay(), RandomSizes()), "");
      ASSERT_EQ(Difference(subject_, wire, Way::kFrozen, RandomSizes()), "");
    }
  }
}

// Tag 0, or the end of a group that never began, near the end of a block with others behind it.
TEST_P(Damaged, EndingBeforeALaterBlock) {
  for (int block_bytes = 1; block_bytes <= 1000; block_bytes += block_bytes < 64 ? 1 : 39) {
    const std::string whole = RandomWire(10);
    for (const char end : {'\0', '\x0c'}) {
      const std::string wire = whole + std::string(3, end) + std::string(40, 'b');
      const auto first_bytes = static_cast<int>(whole.size() + 3);
      ASSERT_EQ(Difference(subject_, wire, Way::kFrozen, {block_bytes}), "");
      ASSERT_EQ(Difference(subject_, wire, Way::kOpen, {block_bytes}), "");
      ASSERT_EQ(Difference(subject_, wire, Way::kFrozen, {first_bytes, block_bytes}), "");
      ASSERT_EQ(Difference(subject_, wire, RandomWay(), {first_bytes, block_bytes}), "");
    }
  }
}

// Singular fields twice: the last wins, messages merge, oneofs change their mind.
TEST_P(Damaged, TwoMessagesInOne) {
  for (int round = 0; round < 20; ++round) {
    const std::string wire = RandomWire(40) + RandomWire(40);
    for (int way = 0; way < kWays; ++way) {
      ASSERT_EQ(Difference(subject_, wire, static_cast<Way>(way), RandomSizes()), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Damaged, testing::Range(size_t{0}, Subjects().size()),
                         [](const auto& info) {
                           std::string name(Subjects()[info.param].name());
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace harena::pb::codec::test
