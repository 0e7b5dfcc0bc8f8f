// What is held while a message is parsed, what is charged afterwards, and how the input is cut.
#include "harena/pb/wire/heap_meter.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <thread>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/message.h"
#include "harena/pb/message_arena.h"
#include "harena/pb/parse.h"
#include "harena/pb/test_stream.h"
#include "harena/pb/test_wire.h"
#include "harena/pb/wire/length_check.h"
#include "harena/test/shapes.pb.h"

#if HARENA_CODEC
namespace harena::pb::wire {
namespace {

using harena::test::Shapes;
using pb::test::Field;
using pb::test::kEndGroup;
using pb::test::kStartGroup;
using pb::test::Number;
using pb::test::Repeat;
using pb::test::Tag;

class HeapMeterTest : public testing::TestWithParam<Mode> {
 protected:
  Scope Make(size_t request_bytes_max) {
    return Scope({.request_bytes_max = request_bytes_max, .page_pool = &pool_, .mode = GetParam()});
  }

  PagePool pool_{TestOptions()};
};
INSTANTIATE_TEST_SUITE_P(Modes, HeapMeterTest,
                         testing::Values(Mode::kArena, Mode::kPages, Mode::kCodec),
                         [](const auto& info) { return std::string(ToString(info.param)); });

// Unknown fields of every kind, between known ones, and in messages within.
std::string MixedWire(int count) {
  const std::string unknown =
      Number(1000, 7) + Field(1001, "short") + Field(1002, std::string(20, 'x')) +
      Field(1003, std::string(300, 'y')) + Tag(1004, kStartGroup) + Number(1, 1) +
      Tag(5, kStartGroup) + Field(2, "in groups, out of reach of the arena") + Tag(5, kEndGroup) +
      Tag(1004, kEndGroup);
  std::string wire;
  for (int i = 0; i < count; ++i) {
    wire += Field(10, Field(1, "a leaf of some length") + unknown) + Number(3, 1) + unknown;
    if (i % 10 == 0) wire += Field(8, Repeat("\x01", 500)) + Field(1, std::string(5000, 'z'));
  }
  return wire;
}

TEST_P(HeapMeterTest, AnyPiecesMakeTheSameMessage) {
  const std::string wire = MixedWire(100);
  Shapes expected;
  ASSERT_TRUE(expected.ParseFromString(wire));
  const std::string expected_wire = expected.SerializeAsString();
  size_t parsed = 0;
  for (size_t bytes_max = 200'000; bytes_max < 64'000'000; bytes_max += bytes_max / 2) {
    for (const size_t chunk_bytes : {wire.size(), size_t{3000}, size_t{7}}) {
      Scope scope = Make(bytes_max);
      pb::test::ChunkedStream stream(wire, chunk_bytes);
      const auto result = ParseFrozen<Shapes>(scope, stream, wire.size());
      EXPECT_NE(result.result.status, ParseStatus::kMalformed) << bytes_max;
      if (!result) continue;
      ++parsed;
      EXPECT_EQ(result.message->SerializeAsString(), expected_wire) << bytes_max;
    }
  }
  EXPECT_GT(parsed, 10u);
}

TEST_P(HeapMeterTest, WhatIsChargedIsTheSameUnderEveryLimit) {
  const std::string wire = MixedWire(300);
  size_t least = SIZE_MAX, most = 0;
  for (const size_t bytes_max : {8 * kMiB, 16 * kMiB, 64 * kMiB, size_t{10'000} * kMiB}) {
    Scope scope = Make(bytes_max);
    ASSERT_TRUE(ParseFrozen<Shapes>(scope, wire)) << bytes_max;
    least = std::min(least, scope.outside_bytes());
    most = std::max(most, scope.outside_bytes());
    EXPECT_LE(scope.outside_bytes(), scope.budget().bytes_used());
  }
  EXPECT_EQ(least, most);
  EXPECT_GE(least, 300 * 2 * (6 * 16 + 3 * 32 + 2 * 24) + wire.size());
}

TEST_P(HeapMeterTest, NothingIsHeldAfterwards) {
  const std::string wire = Field(8, Repeat("\x01", 100'000));
  Scope scope = Make(32 * kMiB);
  ASSERT_TRUE(ParseFrozen<Shapes>(scope, wire));
  // Whatever else the arena destroys counts as a string.
  EXPECT_LE(scope.outside_bytes(), GetParam() == Mode::kCodec ? 0 : wire.size() + 100);
  EXPECT_LT(scope.budget().bytes_used(), 3 * kMiB);
  // Refused in the middle: what is there stays charged, and no more.
  Scope tight = Make(256 * kKiB);
  EXPECT_EQ(ParseFrozen<Shapes>(tight, Repeat(Field(10, ""), 50'000)).result.status,
            ParseStatus::kRefused);
  EXPECT_LE(tight.outside_bytes(), 2 * 50'000u + 4096u);
}

// The process's budget holds what may come as well, and gets it back.
TEST_P(HeapMeterTest, TheProcessIsHeldToo) {
  const std::string wire = MixedWire(100);
  const size_t before = ProcessBudget().bytes_used();
  ProcessBudget().set_bytes_max(before + 64 * kMiB);
  {
    Scope scope = Make(kUnlimitedBytes);
    EXPECT_TRUE(ParseFrozen<Shapes>(scope, wire));
    EXPECT_GE(ProcessBudget().bytes_used(), before + scope.outside_bytes());
  }
  ProcessBudget().set_bytes_max(before + 200 * kKiB);
  {
    Scope scope = Make(kUnlimitedBytes);
    const auto result = ParseFrozen<Shapes>(scope, wire);
    ASSERT_EQ(result.result.status, ParseStatus::kRefused);
    EXPECT_STREQ(result.result.refusal.limit, kProcessBytesMax);
  }
  ProcessBudget().set_bytes_max(kUnlimitedBytes);
  pool_.Trim();
  EXPECT_LE(ProcessBudget().bytes_used(), before + kMiB);
}

// Tells what the process has used when it was asked for input.
class WatchingStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit WatchingStream(const std::string& wire)
      : stream_(wire.data(), static_cast<int>(wire.size())) {}
  bool Next(const void** data, int* size) override {
    process_bytes_ = std::max(process_bytes_, ProcessBudget().bytes_used());
    return stream_.Next(data, size);
  }
  void BackUp(int count) override { stream_.BackUp(count); }
  bool Skip(int count) override { return stream_.Skip(count); }
  int64_t ByteCount() const override { return stream_.ByteCount(); }
  size_t process_bytes() const { return process_bytes_; }

 private:
  google::protobuf::io::ArrayInputStream stream_;
  size_t process_bytes_ = 0;
};

// What is held for lies is held of both budgets, also where nothing is metered, and a process with
// little room has none to spare.
TEST(HeapMeter, WhatIsSparedIsTheProcesss) {
  PagePool pool(TestOptions());
  const std::string wire = Number(1000, 1);
  for (const bool off : {false, true}) {
    HeapMeter::TurnOff(off);
    for (const size_t room : {size_t{1024} * kMiB, 64 * kMiB}) {
      const size_t before = ProcessBudget().bytes_used();
      ProcessBudget().set_bytes_max(before + room);
      Scope scope({.request_bytes_max = 64 * kMiB, .page_pool = &pool, .mode = Mode::kPages});
      auto* const message = scope.CreateMessage<google::protobuf::Struct>();
      const size_t alone = ProcessBudget().bytes_used();
      WatchingStream stream(wire);
      EXPECT_TRUE(Parse(scope, stream, wire.size(), *message));
      const bool held = stream.process_bytes() >= alone + LengthCheck::kMuchHeldBytes;
      EXPECT_EQ(held, room > 64 * kMiB) << off;
      EXPECT_LT(ProcessBudget().bytes_used(), alone + LengthCheck::kMuchHeldBytes) << off;
    }
    ProcessBudget().set_bytes_max(kUnlimitedBytes);
  }
  HeapMeter::TurnOff(false);
}

// Looks at what was there before must not cost the square of it.
TEST_P(HeapMeterTest, ManySmallSetsAreLookedAtSeldom) {
  const std::string wire = Repeat(Field(10, Number(1000, 1)), 100'000);
  Scope roomy = Make(size_t{1000} * kMiB);
  ASSERT_TRUE(ParseFrozen<Shapes>(roomy, wire));
  const size_t need_bytes = roomy.budget().bytes_used();
  Scope tight = Make(need_bytes + need_bytes / 2);
  EXPECT_TRUE(ParseFrozen<Shapes>(tight, wire));
}

TEST(HeapMeter, IsForArenasThatThisThreadAloneHasFilled) {
  PagePool pool(TestOptions());
  Scope scope({.page_pool = &pool, .mode = Mode::kPages});
  auto* const message = scope.CreateMessage<Shapes>();
  EXPECT_TRUE(layout::CleanupWindowWorks());
  EXPECT_TRUE(HeapMeter::Works(scope, message->GetArena()));
  EXPECT_FALSE(HeapMeter::Works(scope, nullptr));
  std::thread([&] {
    EXPECT_FALSE(HeapMeter::Works(scope, message->GetArena()));
    google::protobuf::Arena::CreateMessage<Shapes>(message->GetArena());
  }).join();
  EXPECT_FALSE(HeapMeter::Works(scope, message->GetArena()));
}

// A second parse into a message finds its vectors, empty and as large as they were.
TEST(HeapMeter, WhatAMessageHadIsNotChargedTwice) {
  PagePool pool(TestOptions());
  Scope scope({.request_bytes_max = 64 * kMiB, .page_pool = &pool, .mode = Mode::kPages});
  auto* const message = scope.CreateMessage<Shapes>();
  const std::string wire = Repeat(Number(1000, 1), 10'000);
  ASSERT_TRUE(Parse(scope, wire, *message));
  const size_t once = scope.outside_bytes();
  EXPECT_GE(once, wire.size() + 10'000 * 16);
  ASSERT_TRUE(Parse(scope, wire, *message));
  EXPECT_LE(scope.outside_bytes(), once + wire.size() + 100);
  ASSERT_TRUE(Parse(scope, wire + wire + wire, *message));
  EXPECT_GE(scope.outside_bytes(), once + 4 * wire.size() + 14'000 * 16);
}

// protobuf's maps make trees of buckets that many keys fall into, by a seed of each map's. They are
// destroyed by the arena as what holds unknown fields is, and begin as that does.
TEST_P(HeapMeterTest, TreesOfMapsAreNoUnknownFields) {
  constexpr size_t kKeys = 100'000;
  // Not one after the other: those the map spreads evenly, and has no trees for.
  std::mt19937 random;
  std::set<uint32_t> keys;
  while (keys.size() < kKeys) keys.insert(random() >> 1);
  std::string wire;
  for (const uint32_t key : keys) wire += Field(18, Number(1, key) + Number(2, 1));
  wire += Number(1000, 1);
  for (int round = 0; round < 40; ++round) {
    Scope scope = Make(100 * kMiB);
    // In pieces, so that what is there is looked up many times.
    pb::test::ChunkedStream stream(wire, 100'000);
    auto* const message = scope.CreateMessage<Shapes>();
    const ParseResult result = Parse(scope, stream, wire.size(), *message);
    ASSERT_TRUE(result) << result.refusal.Message();
    ASSERT_EQ(static_cast<size_t>(message->numbers_size()), kKeys);
    // The wire, and what the one unknown field takes.
    ASSERT_LE(scope.outside_bytes(), wire.size() + 1000);
  }
}

}  // namespace
}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
