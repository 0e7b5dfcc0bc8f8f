// How deep wire may nest: 100 levels, counted as protobuf counts them.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/wire/test_wire.h"

namespace harena::pb::codec::test {
namespace {

using pb::test::Field;
using pb::test::kEndGroup;
using pb::test::kStartGroup;
using pb::test::Number;
using pb::test::Tag;

struct Nest {
  const char* name;
  const char* type;
  std::string (*around)(const std::string& inner);
  std::string (*innermost)() = [] { return std::string(); };
};

std::string Group(uint32_t number, const std::string& inner) {
  return Tag(number, kStartGroup) + inner + Tag(number, kEndGroup);
}

const Nest kNests[] = {
    {"Message", "harena.test.codec.Part3", [](const std::string& inner) { return Field(3, inner); },
     [] { return Field(1, "text"); }},
    {"RepeatedMessage", "harena.test.codec.Part2",
     [](const std::string& inner) { return Field(5, inner); }},
    {"InOneof", "harena.test.codec.Oneof3",
     [](const std::string& inner) { return Field(19, inner); }},
    {"MapValue", "harena.test.codec.MapValues3",
     [](const std::string& inner) { return Field(100000, Field(1, "key") + Field(2, inner)); }},
    {"MapValueWithStringsInside", "harena.test.codec.MapValues3",
     [](const std::string& inner) { return Field(100000, Field(1, "key") + Field(2, inner)); },
     [] { return Field(14, Field(1, "key") + Field(2, "value")); }},
    {"MapEntryInside", "harena.test.codec.plain.Plain",
     [](const std::string& inner) { return Field(3, inner); },
     [] { return Field(4, Field(1, "key") + Field(2, "value")); }},
    {"UnknownGroupInAMapEntry", "harena.test.Shapes",
     [](const std::string& inner) { return Field(15, inner); },
     [] { return Field(11, Field(1, "key") + Group(9, Number(1, 1)) + Number(2, 5)); }},
    {"StringMapEntry", "harena.test.Shapes",
     [](const std::string& inner) { return Field(15, inner); },
     [] { return Field(11, Field(1, "a key of more than fifteen bytes") + Number(2, 5)); }},
    {"MessageMapEntry", "harena.test.Shapes",
     [](const std::string& inner) { return Field(15, inner); },
     [] { return Field(12, Number(1, 4) + Field(2, Field(1, "leaf"))); }},
    {"Group", "harena.test.codec.Groups",
     [](const std::string& inner) { return Group(1, Group(3, Field(5, inner))); }},
    {"GroupInGroup", "harena.test.codec.Groups",
     [](const std::string& inner) { return Group(13, Field(14, inner)); }},
    {"UnknownGroup", "harena.test.codec.Part3",
     [](const std::string& inner) { return Group(900, inner); }},
    {"UnknownGroupOfEmpty", "harena.test.codec.Empty3",
     [](const std::string& inner) { return Group(900, inner); }},
    {"Extension", "harena.test.codec.Extended",
     [](const std::string& inner) { return Field(41, inner); }},
    {"MessageSet", "harena.test.codec.HasSet",
     [](const std::string& inner) { return Field(1, Group(1, Number(2, 10) + Field(3, inner))); }},
    {"Struct", "harena.test.codec.WellKnown",
     [](const std::string& inner) {
       return Field(3, Field(1, Field(1, "k") + Field(2, Field(5, inner))));
     }},
    {"PlainInCodec", "harena.test.codec.Imports",
     [](const std::string& inner) { return Field(17, inner); },
     [] { return Field(1, Field(3, Field(3, Field(1, "deep")))); }},
    {"Required", "harena.test.codec.Required2",
     [](const std::string& inner) { return Field(4, inner); }},
};

class Nesting : public testing::TestWithParam<Nest> {};

TEST_P(Nesting, AsDeepAsProtobuf) {
  const SilentLog quiet;
  const Nest& nest = GetParam();
  const Subject& subject = SubjectNamed(nest.type);
  std::string wire = nest.innermost();
  // Levels count once or several times per piece of nesting, so the limit is met somewhere here.
  for (int depth = 0; depth <= 104; ++depth) {
    for (const Way way : {Way::kFrozen, Way::kFrozenFlat, Way::kOpenPartial, Way::kOpenCoded,
                          Way::kShallow, Way::kThawed}) {
      ASSERT_EQ(Difference(subject, wire, way, {13, 1, 64}), "") << depth;
    }
    wire = nest.around(wire);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Nesting, testing::ValuesIn(kNests),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace harena::pb::codec::test
