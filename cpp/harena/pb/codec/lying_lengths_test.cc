// Lengths of messages and of strings in them that say more than there is: generated parsers reserve
// nothing for them, in any mode, wherever in the wire they stand and however it comes. protobuf's
// own reserves addresses for one string, once, and the parse then fails.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include "harena/base/poison.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/call/reusable.h"
#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_hostile_wire.h"
#include "harena/pb/codec/test_limited_parse.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/codec/test_random_message.h"
#include "harena/pb/codec/test_subject.h"
#include "harena/pb/wire/test_wire.h"
#include "tests/safety_count.h"

namespace harena::pb::codec::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using pb::test::Field;
using pb::test::Varint;

constexpr size_t kPageBytes = 64 * kKiB;
// AddressSanitizer's heap takes long over what protobuf reserves.
constexpr int kLiesPerType = HARENA_ASAN ? 12 : 48;
constexpr std::array<uint64_t, 3> kLies = {40'000'000, 2'000'000, 100'000};
// What protobuf believes a string at most, as its own code says.
constexpr size_t kReservedBytesMax = 50'000'000;

// Of a length-delimited field, with needless bytes now and then, which protobuf takes.
std::string TagOf(uint32_t number, Random& random) {
  std::string tag = Varint(number << 3 | 2);
  for (; tag.size() < 5 && OneIn(random, 6); tag += '\0') tag.back() |= '\x80';
  return tag;
}

const FieldDescriptor* AnyField(const Descriptor& type, bool message, Random& random) {
  std::vector<const FieldDescriptor*> fits;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const bool fit = message ? field.type() == FieldDescriptor::TYPE_MESSAGE
                             : field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    if (fit) fits.push_back(&field);
  }
  return fits.empty() ? nullptr : fits[Below(random, fits.size())];
}

// Messages in messages, and a string in the last, each of which says that it is long; anything
// honest in between.
std::string Lies(const Descriptor& type, Random& random) {
  std::string wire;
  const uint64_t lie = kLies[Below(random, kLies.size())];
  const Descriptor* at = &type;
  for (size_t levels = 1 + Below(random, 4); levels > 0; --levels) {
    const FieldDescriptor* const field = AnyField(*at, true, random);
    if (field == nullptr) break;
    wire += TagOf(static_cast<uint32_t>(field->number()), random) +
            Varint(lie + 100 * levels + Below(random, 50));
    at = field->message_type();
    if (OneIn(random, 3)) wire += Field(1999, std::string(Below(random, 40), 'u'));
    if (OneIn(random, 3)) {
      const auto hostility = static_cast<Hostility>(Below(random, kHostilities));
      wire += HostileWire(*at, hostility, 1 + Below(random, 600), random);
    }
  }
  const FieldDescriptor* const text = AnyField(*at, false, random);
  wire += TagOf(text != nullptr && !OneIn(random, 4) ? static_cast<uint32_t>(text->number()) : 2001,
                random);
  wire += Varint(lie) + std::string(Below(random, 40), 't');
  return wire;
}

// Whether protobuf parses some of the messages of a type with a codec.
bool HasStockParts(const Descriptor& type, std::set<const Descriptor*>& seen) {
  if (!seen.insert(&type).second) return false;
  if (type.extension_range_count() > 0) return true;
  for (int i = 0; i < type.field_count(); ++i) {
    const Descriptor* const part = type.field(i)->message_type();
    if (part == nullptr) continue;
    const auto& subjects = AllSubjects();
    const auto found = std::find_if(subjects.begin(), subjects.end(), [&](const Subject& subject) {
      return subject.prototype->GetDescriptor() == part;
    });
    const bool stock = found == subjects.end() ? !part->options().map_entry() : !found->has_codec;
    if (stock || HasStockParts(*part, seen)) return true;
  }
  return false;
}

bool HasStockParts(const Subject& subject) {
  std::set<const Descriptor*> seen;
  return HasStockParts(*subject.prototype->GetDescriptor(), seen);
}

class LyingLengths : public testing::TestWithParam<bool> {
 protected:
  static PagePoolOptions PoolOptions() {
    PagePoolOptions options = TestOptions();
    options.page_bytes = kPageBytes;
    return options;
  }

  LimitedParses parses_{PoolOptions()};
  const SilentLog quiet_;
};

INSTANTIATE_TEST_SUITE_P(All, LyingLengths, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "by_code" : "by_protobuf");
});

TEST_P(LyingLengths, ReserveNothing) {
  uint64_t tried = 0;
  size_t heap_bytes_max = 0;
  for (const Subject& subject : AllSubjects()) {
    const Descriptor& type = *subject.prototype->GetDescriptor();
    const bool by_code = GetParam() && subject.has_codec && !HasStockParts(subject);
    Random random(std::hash<std::string_view>()(subject.name()));
    MakeTablesOf(subject);
    for (int i = 0; i < kLiesPerType * HostileRounds(); ++i) {
      const size_t honest_bytes = i % 3 == 0 ? 0 : Below(random, i % 3 == 1 ? 200 : 4'000);
      std::string wire;
      if (honest_bytes != 0) wire = HostileWire(type, Hostility::kWide, honest_bytes, random);
      if (OneIn(random, 2)) wire += Field(1998, std::string(Below(random, 60), '\xff'));
      wire += Lies(type, random);
      const size_t chunk_bytes = OneIn(random, 2) ? wire.size() : 1 + Below(random, 60);
      for (const Mode mode : {Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec}) {
        if (mode == Mode::kReuse && WhyNotReusable(*subject.prototype)) continue;
        for (const size_t bytes_max : {kMiB, 16 * kMiB, 256 * kMiB}) {
          const LimitedOutcome outcome =
              parses_.Run({.subject = subject,
                           .wire = wire,
                           .chunk_bytes = chunk_bytes,
                           .by_protobuf = !GetParam()},
                          {.mode = mode, .request_bytes_max = bytes_max});
          ++tried;
          heap_bytes_max = std::max(heap_bytes_max, outcome.heap_bytes);
          EXPECT_LE(outcome.heap_bytes, by_code ? kMiB : kMiB + kReservedBytesMax)
              << subject.name() << ", " << ToString(mode) << ", " << wire.size()
              << " of wire in pieces of " << chunk_bytes << ", within " << bytes_max << "\n"
              << Hex(std::string_view(wire).substr(wire.size() > 150 ? wire.size() - 150 : 0));
          EXPECT_EQ(outcome.leaked_bytes, 0u) << subject.name() << ", " << ToString(mode);
          EXPECT_NE(outcome.status, ParseStatus::kOk);
          if (testing::Test::HasFailure() && tried > 3'000) return;
        }
      }
    }
  }
  std::printf("%llu tried; at most %zu bytes of the heap\n", static_cast<unsigned long long>(tried),
              heap_bytes_max);
  SafetyCount("inputs_tried", tried);
}

std::string BytesOf(const Subject& subject, const google::protobuf::Message& message) {
  const std::unique_ptr<google::protobuf::Message> copy(subject.prototype->New());
  copy->CopyFrom(message);
  return StockBytes(*copy);
}

// What looks like a lie and is the inside of a string is read as what it is, in any pieces.
TEST_P(LyingLengths, AreTextWhereTheyStandInText) {
  uint64_t tried = 0;
  for (const Subject& subject : AllSubjects()) {
    const Descriptor& type = *subject.prototype->GetDescriptor();
    Random random(std::hash<std::string_view>()(subject.name()));
    MakeTablesOf(subject);
    for (int i = 0; i < 24 * HostileRounds(); ++i) {
      const std::unique_ptr<google::protobuf::Message> message(subject.prototype->New());
      FillRandomly(*message, random);
      std::string wire;
      std::string text;
      for (size_t lies = Below(random, 40); lies > 0; --lies) text += Lies(type, random);
      if (OneIn(random, 2)) wire += Field(1998, text);
      wire += message->SerializePartialAsString();
      if (OneIn(random, 2)) wire += Field(1999, text);
      // Some types have these fields, and some contents lack what is required.
      if (!message->ParseFromString(wire)) continue;
      const std::string expected = StockBytes(*message);
      const size_t chunk_bytes = OneIn(random, 2) ? wire.size() + 1 : 1 + Below(random, 60);
      for (const Mode mode : {Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec}) {
        if (mode == Mode::kReuse && WhyNotReusable(*subject.prototype)) continue;
        for (const size_t bytes_max : {8 * kMiB, kUnlimitedBytes - 1}) {
          std::string actual = "nothing";
          const LimitedOutcome outcome = parses_.Run(
              {.subject = subject, .wire = wire, .chunk_bytes = chunk_bytes},
              {.mode = mode, .request_bytes_max = bytes_max}, kUnlimitedBytes,
              [&](const google::protobuf::MessageLite& parsed) {
                actual = BytesOf(subject, static_cast<const google::protobuf::Message&>(parsed));
              });
          ++tried;
          EXPECT_EQ(outcome.status, ParseStatus::kOk) << subject.name() << ", " << ToString(mode);
          EXPECT_TRUE(actual == expected) << subject.name() << ", " << ToString(mode);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(tried, 50 * AllSubjects().size());
  SafetyCount("inputs_tried", tried);
}

}  // namespace
}  // namespace harena::pb::codec::test
