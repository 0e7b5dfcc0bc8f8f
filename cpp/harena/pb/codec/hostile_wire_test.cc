// "Memory taken never exceeds the budget by more than one page", for hostile wire of every message
// type, in every mode, under budgets of any size; and nothing that fits is refused.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/arena/message_arena.h"
#include "harena/pb/call/reusable.h"
#include "harena/pb/codec/test_heap_bytes.h"
#include "harena/pb/codec/test_hostile_wire.h"
#include "harena/pb/codec/test_limited_parse.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/codec/test_subject.h"
#include "harena/pb/layout/family.h"
#include "harena/pb/wire/test_wire.h"
#include "harena/test/codec_scalars2.pb.h"
#include "tests/safety_count.h"

namespace harena::pb::codec::test {
namespace {

constexpr size_t kPageBytes = 64 * kKiB;
// What protobuf holds for a moment and nobody counts where it parses by tables: 38 bytes were seen.
constexpr size_t kUncountedBytes = HARENA_PROTOBUF_3_21 ? 0 : 64;

// The modes, and whether a message that is kept has been read into before.
constexpr std::pair<Mode, bool> kWays[] = {{Mode::kArena, false},
                                           {Mode::kPages, false},
                                           {Mode::kReuse, false},
                                           {Mode::kReuse, true},
                                           {Mode::kCodec, false}};

// By generated parsers, and by protobuf's own: then the wire is walked through.
class Hostile : public testing::TestWithParam<bool> {
 protected:
  static PagePoolOptions PoolOptions() {
    PagePoolOptions options = TestOptions();
    options.page_bytes = kPageBytes;
    return options;
  }

  LimitedOutcome Run(const Subject& subject, Mode mode, size_t bytes_max, const std::string& wire,
                     size_t chunk_bytes, bool kept = false) {
    return parses_.Run({.subject = subject,
                        .wire = wire,
                        .chunk_bytes = chunk_bytes,
                        .kept = kept,
                        .by_protobuf = !GetParam()},
                       {.mode = mode, .request_bytes_max = bytes_max});
  }

  LimitedParses parses_{PoolOptions()};
  const SilentLog quiet_;
};

INSTANTIATE_TEST_SUITE_P(All, Hostile, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "by_code" : "by_protobuf");
});

TEST_P(Hostile, NothingTakesMoreThanItsBudgetAndWhatFitsIsServed) {
  uint64_t tried = 0, refused = 0, malformed = 0, wrongly = 0, leaked = 0, keys_lost = 0;
  size_t over_bytes_max = 0;
  const std::string next_wire;  // an empty message
  for (int round = 0; round < HostileRounds(); ++round) {
    for (const Subject& subject : AllSubjects()) {
      Random random(std::hash<std::string_view>()(subject.name()) +
                    977 * static_cast<size_t>(round));
      MakeTablesOf(subject);
      for (int kind = 0; kind < kHostilities; ++kind) {
        const std::string wire =
            HostileWire(*subject.prototype->GetDescriptor(), static_cast<Hostility>(kind),
                        1000 + Below(random, 25'000), random);
        const size_t chunk_bytes = OneIn(random, 2) ? wire.size() + 1 : 1 + Below(random, 9000);
        for (const auto& [mode, kept] : kWays) {
          if (mode == Mode::kReuse && WhyNotReusable(*subject.prototype)) continue;
          const std::string what = std::string(subject.name()) + ", kind " + std::to_string(kind) +
                                   ", round " + std::to_string(round) + ", mode " +
                                   std::string(ToString(mode)) + (kept ? ", kept" : "");
          const bool text_keys = HasTextKeys(subject);
          const LimitedOutcome free = Run(subject, mode, kUnlimitedBytes, wire, chunk_bytes);
          const size_t need_bytes = free.page_bytes + free.heap_bytes;
          // What protobuf keeps on the heap is charged with the wire, whether that is strings or
          // not. Vectors of unknown fields are charged with what they take while they grow, and the
          // wire is gathered in a block of its own.
          size_t charged_bytes = free.page_bytes + 3 * wire.size() + 4 * free.heap_bytes;
          // What it has from before counts too, and maps take all anew.
          if (kept) charged_bytes += free.page_bytes;
          // And what is there only while it is parsed stands in pages of its own.
          const size_t sure_bytes = charged_bytes + charged_bytes / 4 + 4 * kPageBytes;
          for (size_t bytes_max :
               {2 * kPageBytes + Below(random, need_bytes + 1), need_bytes, sure_bytes}) {
            bytes_max = std::max(bytes_max, 2 * kPageBytes);
            LimitedOutcome outcome = Run(subject, mode, bytes_max, wire, chunk_bytes, kept);
            ++tried;
            const size_t over_bytes =
                outcome.taken_bytes - std::min(outcome.taken_bytes, bytes_max);
            over_bytes_max = std::max(over_bytes_max, over_bytes);
            EXPECT_LE(over_bytes, kPageBytes + kUncountedBytes)
                << what << ": " << outcome.taken_bytes << " (at most " << outcome.heap_bytes
                << " of the heap, " << outcome.page_bytes << " of pages at the end) of "
                << bytes_max << " for " << wire.size() << " of wire; status "
                << static_cast<int>(outcome.status);
            if (text_keys && outcome.leaked_bytes <= kLostKeyBytesMax) {
              keys_lost += outcome.leaked_bytes != 0;
              outcome.leaked_bytes = 0;
            }
            EXPECT_EQ(outcome.leaked_bytes, 0u) << what << " of " << bytes_max;
            leaked += outcome.leaked_bytes;
            malformed += outcome.status == ParseStatus::kMalformed;
            if (outcome.status != ParseStatus::kRefused) {
              EXPECT_EQ(outcome.status, free.status) << what;
              continue;
            }
            ++refused;
            wrongly += bytes_max >= sure_bytes;
            EXPECT_LT(bytes_max, sure_bytes)
                << what << ": refused although it needs " << need_bytes;
          }
          const LimitedOutcome next = Run(subject, mode, 2 * kPageBytes, next_wire, 1);
          EXPECT_NE(next.status, ParseStatus::kRefused) << what;
          ASSERT_EQ(parses_.pool().stats().bytes_in_use, 0u) << what;
          if (testing::Test::HasFailure() && tried > 20'000) return;
        }
      }
    }
  }
  std::printf(
      "at most %zu bytes over a budget; %llu of %llu were no messages; %llu keys of maps were "
      "lost\n",
      over_bytes_max, static_cast<unsigned long long>(malformed),
      static_cast<unsigned long long>(tried), static_cast<unsigned long long>(keys_lost));
  EXPECT_LE(keys_lost, tried / 100);
  SafetyCount("inputs_tried", tried);
  SafetyCount("budgets_refused", refused);
  SafetyCount("requests_wrongly_refused", wrongly);
  SafetyCount("bytes_leaked", leaked);
  EXPECT_GT(refused, tried / 20);
  EXPECT_LT(malformed, tried / 4);
}

// protobuf's list of missing fields names each by its whole path: here a hundred times the wire.
std::string WireWithoutRequiredFields() {
  using pb::test::Field;
  std::string wire;
  for (int i = 0; i < 500; ++i) wire += Field(5, "");
  for (int level = 0; level < 80; ++level) wire = Field(5, wire);
  return wire;
}

TEST_P(Hostile, PathsOfMissingFieldsAreNotListedWithinALimit) {
  const std::string wire = WireWithoutRequiredFields();
  for (const Mode mode : {Mode::kArena, Mode::kPages, Mode::kCodec}) {
    const LimitedOutcome outcome =
        Run(SubjectNamed("harena.test.codec.Required2"), mode, kMiB, wire, wire.size());
    EXPECT_EQ(outcome.status, ParseStatus::kMalformed);
    EXPECT_LE(outcome.heap_bytes, 100 * kKiB) << ToString(mode);
  }
}

// The same where a framework parses: protobuf's own frame would list them after our parser.
TEST(ExpectedParse, PathsOfMissingFieldsAreNotListedWithinALimit) {
  PagePool pool(TestOptions());
  const std::string wire = WireWithoutRequiredFields();
  for (const Mode mode : {Mode::kArena, Mode::kPages, Mode::kCodec}) {
    for (const bool limited : {true, false}) {
      Scope scope({.request_bytes_max = limited ? kMiB : kUnlimitedBytes,
                   .page_pool = &pool,
                   .mode = mode});
      auto* message = scope.CreateMessage<harena::test::codec::Required2>();
      MessageArena& messages = MessageArena::Of(scope);
      messages.ExpectParse(*message, RequiredFields::kMustBeThere);
      HeapWatch watch([] { return size_t{0}; });
      const auto listed = LogOf([&] { EXPECT_FALSE(message->ParseFromString(wire)); });
      EXPECT_EQ(listed.empty(), limited) << ToString(mode);
      if (!limited) continue;
      EXPECT_LE(watch.heap_bytes_max(), 100 * kKiB) << ToString(mode);
      EXPECT_TRUE(messages.malformed_parse()) << ToString(mode);
      EXPECT_FALSE(messages.refused_parse()) << ToString(mode);
    }
  }
}

// The same for what adapters tell of a request that was malformed.
TEST(MissingFields, AreListedOnlyWithoutALimit) {
  PagePool pool(TestOptions());
  const std::string wire = WireWithoutRequiredFields();
  for (const bool limited : {true, false}) {
    Scope scope({.request_bytes_max = limited ? kMiB : kUnlimitedBytes, .page_pool = &pool});
    auto* message = scope.CreateMessage<harena::test::codec::Required2>();
    const SilentLog quiet;
    EXPECT_EQ(Parse(scope, wire, *message).status, ParseStatus::kMalformed);
    HeapWatch watch([] { return size_t{0}; });
    const std::string missing = MissingFields(scope, *message);
    EXPECT_EQ(missing == "required fields are missing", limited);
    EXPECT_EQ(watch.heap_bytes_max() <= 100 * kKiB, limited);
    EXPECT_EQ(missing.size() > 50 * wire.size(), !limited);
  }
  Scope scope({.request_bytes_max = kMiB, .page_pool = &pool});
  auto* inner = scope.CreateMessage<harena::test::codec::Required2::Inner>();
  inner->set_data("all that it needs");
  EXPECT_EQ(MissingFields(scope, *inner), "");
}

TEST(ExpectedParse, RequiredFieldsMayBeMissingWhereTheFrameworkSaysSo) {
  PagePool pool(TestOptions());
  for (const Mode mode : {Mode::kArena, Mode::kPages, Mode::kCodec}) {
    Scope scope({.request_bytes_max = kMiB, .page_pool = &pool, .mode = mode});
    auto* message = scope.CreateMessage<harena::test::codec::Required2>();
    MessageArena::Of(scope).ExpectParse(*message, RequiredFields::kMayBeMissing);
    EXPECT_TRUE(message->ParsePartialFromString(pb::test::Field(5, ""))) << ToString(mode);
    EXPECT_EQ(message->children_size(), 1);
    EXPECT_FALSE(MessageArena::Of(scope).malformed_parse());
  }
}

}  // namespace
}  // namespace harena::pb::codec::test
