// Bytes that are not UTF-8: refused, or told in the log, exactly where and as protobuf does it.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/wire/test_wire.h"
#include "harena/test/codec_scalars.pb.h"

namespace harena::pb::codec::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using harena::test::codec::Scalars3;
using pb::test::Field;

const std::vector<std::string>& Texts() {
  static const auto* texts = new std::vector<std::string>{"\x80",
                                                          "\xff",
                                                          "\xc3",
                                                          "\xc3\xa9",
                                                          "\xc0\x80",
                                                          "\xe2\x82",
                                                          "\xe2\x82\xac",
                                                          "\xed\xa0\x80",
                                                          "\xed\x9f\xbf",
                                                          "\xee\x80\x80",
                                                          "\xf0\x9f\x99\x82",
                                                          "\xf0\x8f\xbf\xbf",
                                                          "\xf4\x8f\xbf\xbf",
                                                          "\xf4\x90\x80\x80",
                                                          "\xf5\x80\x80\x80",
                                                          "\xef\xbf\xbe",
                                                          "\xfe",
                                                          "\xf8\x88\x80\x80\x80",
                                                          std::string("\0", 1),
                                                          "\x7f",
                                                          "\xc2\x7f",
                                                          "\xdf\xc0"};
  return *texts;
}

// A string where string fields are strict, in every field of the type that holds one.
class Utf8 : public testing::TestWithParam<const char*> {};

TEST_P(Utf8, EveryFieldAtEveryPlaceOfAString) {
  const SilentLog quiet;
  const Subject& subject = SubjectNamed(GetParam());
  const Descriptor& type = *subject.prototype->GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const auto number = static_cast<uint32_t>(field.number());
    for (const std::string& bad : Texts()) {
      for (const size_t before : {0, 1, 7, 8, 9, 15, 16, 30}) {
        for (const size_t behind : {0, 1, 8, 23}) {
          const std::string text = std::string(before, 'a') + bad + std::string(behind, 'b');
          std::vector<std::string> wires;
          if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) wires = {Field(number, text)};
          if (field.is_map() && (before + behind) % 3 == 0) {
            wires = {Field(number, Field(1, text)), Field(number, Field(2, text))};
          }
          for (const std::string& wire : wires) {
            ASSERT_EQ(Difference(subject, wire, Way::kFrozenFlat, {64}), "");
            ASSERT_EQ(Difference(subject, wire, Way::kFrozen, {16, 5}), "");
            ASSERT_EQ(Difference(subject, wire, Way::kOpenString, {64}), "");
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Utf8,
                         testing::Values("harena.test.codec.Scalars3", "harena.test.codec.Scalars2",
                                         "harena.test.codec.Oneof3", "harena.test.codec.Oneof2",
                                         "harena.test.codec.MapValues3",
                                         "harena.test.codec.MapValues2",
                                         "harena.test.codec.Options2"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(Utf8Log, SaysTheSameWhenParsing) {
  for (const uint32_t number : {14u, 31u, 48u}) {
    const std::string wire = Field(number, "bad \xff and long enough for the heap");
    Scope scope({.mode = Mode::kCodec});
    Scalars3 stock;
    Scalars3* open = scope.CreateMessage<Scalars3>();
    const auto expected = LogOf([&] { EXPECT_FALSE(stock.ParseFromString(wire)); });
    EXPECT_EQ(LogOf([&] { EXPECT_FALSE(ParseFrozen<Scalars3>(scope, wire)); }), expected);
    EXPECT_EQ(LogOf([&] { EXPECT_FALSE(open->ParseFromString(wire)); }), expected);
    EXPECT_EQ(expected.size(), 1u);
  }
}

TEST(Utf8Log, SaysTheSameWhenWriting) {
  Scope scope({.mode = Mode::kCodec});
  Scalars3* message = scope.CreateMessage<Scalars3>();
  message->set_plain_string("bad \xff");
  message->add_repeated_string("bad \xfe and long enough for the heap");
  message->set_optional_string("good");
  const Scalars3 stock(*message);
  std::string expected_bytes;
  std::string bytes;
  const auto expected = LogOf([&] { expected_bytes = stock.SerializeAsString(); });
  auto lines = LogOf([&] { bytes = message->SerializeAsString(); });
  EXPECT_EQ(bytes, expected_bytes);
  // The codec writes backwards.
  std::reverse(lines.begin(), lines.end());
  EXPECT_EQ(lines, expected);
  EXPECT_EQ(expected.size(), 2u);
}

}  // namespace
}  // namespace harena::pb::codec::test
