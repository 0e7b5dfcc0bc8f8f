// Wire that no serializer writes, built by hand.
#include <climits>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/codec/test_random_message.h"
#include "harena/pb/wire/test_wire.h"

namespace harena::pb::codec::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using pb::test::Field;
using pb::test::Number;
using pb::test::Repeat;
using pb::test::Varint;

std::string Long(uint64_t value, size_t bytes) {
  std::string varint = Varint(value);
  while (varint.size() < bytes) {
    varint.back() = static_cast<char>(varint.back() | 0x80);
    varint += '\0';
  }
  return varint;
}

std::string AnyTag(uint32_t number, uint32_t wire_type) {
  return Varint(static_cast<uint64_t>(number) << 3 | wire_type);
}

// What may follow a tag of that wire type, good and bad.
std::vector<std::string> ValuesOf(uint32_t number, uint32_t wire_type) {
  const std::string end = AnyTag(number, 4);
  switch (wire_type) {
    case 0:
      return {Varint(0),
              Varint(1),
              Varint(127),
              Varint(~uint64_t{0}),
              Long(1, 2),
              Long(1, 5),
              Long(3, 10),
              Long(1, 11),
              Varint(1ull << 31),
              Varint(1ull << 32),
              Varint(1000000),
              std::string("\x80", 1),
              std::string(9, '\xff') + "\x01",
              std::string(9, '\xff') + "\x7f",
              std::string(10, '\xff'),
              ""};
    case 1:
      return {std::string(8, '\xff'), std::string(8, '\0'), std::string(7, 'x'), ""};
    case 2:
      return {Varint(0),
              Varint(3) + "abc",
              Varint(20) + std::string(20, 'x'),
              Varint(4) + "ab",
              Varint(INT_MAX) + "abc",
              Varint(static_cast<uint64_t>(INT_MAX) - 15) + "abc",
              Varint(static_cast<uint64_t>(INT_MAX) - 16) + "abc",
              Varint(static_cast<uint64_t>(INT_MAX) + 1) + "abc",
              Varint(~uint64_t{0}) + "abc",
              Long(3, 5) + "abc",
              Long(3, 6) + "abc",
              Varint(2) + "\x08\x01",
              Varint(2) + "\x0a\x00",
              Varint(4) + std::string("\x08\x01\x12\x00", 4),
              Varint(1) + "\x80",
              Varint(2) + std::string("\x00\x01", 2),
              Varint(3) + "\xc3\x28\x41",
              Varint(8) + std::string(8, '\xff'),
              Varint(10) + std::string(9, '\xff') + "\x01",
              Varint(11) + std::string(10, '\xff') + "\x01"};
    case 3:
      return {end,
              Field(1, "in a group") + end,
              Number(1, 5) + Number(2, 6) + end,
              AnyTag(number + 1, 4),
              AnyTag(1, 3) + AnyTag(1, 4) + end,
              AnyTag(1, 3) + end,
              Number(1, 5),
              std::string(1, '\0') + end,
              Long(static_cast<uint64_t>(number) << 3 | 4, 5),
              ""};
    case 5:
      return {std::string(4, '\xff'), std::string(3, 'x'), ""};
    default:
      return {"", "abcdefgh"};
  }
}

class Strange : public testing::TestWithParam<size_t> {
 protected:
  Strange() : subject_(Subjects()[GetParam()]), random_(GetParam()) {}

  // In one way that reads in pieces and in one that does not, changing from call to call.
  void Check(const std::string& wire) {
    const auto way = static_cast<Way>(Below(random_, kWays));
    ASSERT_EQ(Difference(subject_, wire, way, {static_cast<int>(1 + Below(random_, 20))}), "");
    ASSERT_EQ(Difference(subject_, wire, Way::kFrozenFlat, {1 << 20}), "");
  }

  std::vector<uint32_t> Numbers() const {
    const Descriptor& type = *subject_.prototype->GetDescriptor();
    std::vector<const FieldDescriptor*> fields;
    type.file()->pool()->FindAllExtensions(&type, &fields);
    for (int i = 0; i < type.field_count(); ++i) fields.push_back(type.field(i));
    // What nobody knows, the largest, and one with a tag of the same lowest byte as field 1 or 16.
    std::vector<uint32_t> numbers = {33, 536870911, 19000};
    for (const FieldDescriptor* field : fields) {
      numbers.push_back(static_cast<uint32_t>(field->number()));
    }
    return numbers;
  }

  const Subject& subject_;
  Random random_;
  const SilentLog quiet_;
};

TEST_P(Strange, EveryFieldWithEveryWireTypeAndValue) {
  for (const uint32_t number : Numbers()) {
    for (uint32_t wire_type = 0; wire_type < 8; ++wire_type) {
      for (const std::string& value : ValuesOf(number, wire_type)) {
        ASSERT_NO_FATAL_FAILURE(Check(AnyTag(number, wire_type) + value));
      }
    }
  }
}

TEST_P(Strange, EveryFieldTwiceAndBetweenOthers) {
  for (const uint32_t number : Numbers()) {
    for (const uint32_t wire_type : {0u, 1u, 2u, 3u, 5u}) {
      const auto values = ValuesOf(number, wire_type);
      for (size_t i = 0; i < values.size() && i < 5; ++i) {
        const std::string one = AnyTag(number, wire_type) + values[i];
        const std::string next = AnyTag(number, wire_type) + values[(i + 1) % values.size()];
        ASSERT_NO_FATAL_FAILURE(Check(one + one));
        ASSERT_NO_FATAL_FAILURE(Check(Number(29999, 7) + one + next + Field(29998, "end")));
      }
    }
  }
}

// Tags in more bytes than they need, tags too large, number 0.
TEST_P(Strange, StrangeTags) {
  for (const uint32_t number : Numbers()) {
    for (const uint32_t wire_type : {0u, 2u}) {
      const uint64_t tag = static_cast<uint64_t>(number) << 3 | wire_type;
      const std::string value = wire_type == 0 ? Varint(1) : Varint(2) + "ab";
      for (size_t bytes = 2; bytes <= 6; ++bytes) {
        ASSERT_NO_FATAL_FAILURE(Check(Long(tag, bytes) + value));
        // Right behind one of the same field, where look-ahead expects the short tag.
        ASSERT_NO_FATAL_FAILURE(Check(Varint(tag) + value + Long(tag, bytes) + value));
      }
      ASSERT_NO_FATAL_FAILURE(Check(Varint(tag | uint64_t{1} << 32) + value));
      ASSERT_NO_FATAL_FAILURE(Check(Varint(tag | uint64_t{1} << 35) + value));
    }
  }
  for (uint32_t wire_type = 0; wire_type < 8; ++wire_type) {
    ASSERT_NO_FATAL_FAILURE(Check(AnyTag(0, wire_type) + "\x01\x01"));
    ASSERT_NO_FATAL_FAILURE(Check(Number(33, 1) + AnyTag(0, wire_type)));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Strange, testing::Range(size_t{0}, Subjects().size()),
                         [](const auto& info) {
                           std::string name(Subjects()[info.param].name());
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

// Runs of elements that are longer than any buffer, which look-ahead counts.
TEST(RunsTest, OfRepeatedFieldsOverManyPieces) {
  const Subject& subject = SubjectNamed("harena.test.codec.Tags2");
  for (const uint32_t number : {16u, 2048u, 2049u, 262144u, 33554433u, 17u, 2046u}) {
    for (const size_t count : {1u, 2u, 3u, 100u, 70000u}) {
      const bool text = number % 2 == 0 && number != 2046;
      const std::string one = number == 17     ? Number(number, 300)
                              : number == 2046 ? AnyTag(number, 5) + "four"
                              : text           ? Field(number, "text")
                                               : Field(number, Field(1, "part"));
      for (const int bytes : {1 << 20, 4096, 37}) {
        ASSERT_EQ(Difference(subject, Repeat(one, count), Way::kFrozen, {bytes}), "") << number;
        if (count > 1000) break;
      }
    }
  }
}

// Packed fields of every length around the ends of pieces.
TEST(RunsTest, OfPackedFields) {
  const Subject& subject = SubjectNamed("harena.test.codec.Scalars2");
  const Descriptor& type = *subject.prototype->GetDescriptor();
  Random random(5);
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (!field.is_packable()) continue;
    const auto number = static_cast<uint32_t>(field.number());
    for (size_t bytes = 0; bytes < 80; bytes += 1 + Below(random, 4)) {
      std::string body;
      while (body.size() < bytes) body += Varint(random() >> Below(random, 64));
      for (const int piece : {1 << 20, 1, 13, 32}) {
        ASSERT_EQ(Difference(subject, Field(number, body) + Field(number, body) + Field(1, body),
                             Way::kFrozen, {piece}),
                  "");
        ASSERT_EQ(Difference(subject, Field(number, body), Way::kOpenString, {piece}), "");
      }
    }
  }
}

}  // namespace
}  // namespace harena::pb::codec::test
