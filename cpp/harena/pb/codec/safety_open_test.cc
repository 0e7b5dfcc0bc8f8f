// Messages that anybody may change: whatever protobuf's API offers does to a message of the codec
// what it does to one on the heap.
#include <string>

#include <gtest/gtest.h>

#include "harena/pb/codec/test_safety.h"
#include "harena/pb/layout/names.h"

namespace harena::pb::codec {
namespace {

struct Name {
  template <typename Param>
  std::string operator()(const Param& param) const {
    std::string name = param.param.name;
    return name;
  }
};

class OpenWhole : public ::testing::TestWithParam<Row<Whole>> {};
class OpenWhole2 : public ::testing::TestWithParam<Row<Whole2>> {};

TEST_P(OpenWhole, DoesWhatItDoesOnTheHeap) {
  RunApart([] { CheckRow(GetParam()); });
}
TEST_P(OpenWhole2, DoesWhatItDoesOnTheHeap) {
  RunApart([] { CheckRow(GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Strings, OpenWhole, ::testing::ValuesIn(StringRows()), Name());
INSTANTIATE_TEST_SUITE_P(Messages, OpenWhole, ::testing::ValuesIn(WholeMessageRows()), Name());
INSTANTIATE_TEST_SUITE_P(Repeated, OpenWhole, ::testing::ValuesIn(RepeatedRows()), Name());
INSTANTIATE_TEST_SUITE_P(Maps, OpenWhole, ::testing::ValuesIn(MapRows()), Name());
INSTANTIATE_TEST_SUITE_P(Reflection, OpenWhole, ::testing::ValuesIn(ReflectionRows()), Name());
INSTANTIATE_TEST_SUITE_P(Proto2, OpenWhole2, ::testing::ValuesIn(Proto2Rows()), Name());

std::vector<Row<Whole>> AllRows() {
  std::vector<Row<Whole>> rows;
  for (const auto* some :
       {&StringRows(), &WholeMessageRows(), &RepeatedRows(), &MapRows(), &ReflectionRows()}) {
    rows.insert(rows.end(), some->begin(), some->end());
  }
  // After some histories protobuf 3.21's own Reflection::Swap() has maps differ between the heap
  // and any arena, a stock one too; alone, among the rows, it is compared.
  std::erase_if(rows, [](const auto& row) { return row.name == std::string("reflection_swap"); });
  return rows;
}

class OpenSequence : public ::testing::TestWithParam<int> {};

TEST_P(OpenSequence, TwoHundredOperationsInAnyOrder) {
  RunApart([] {
    const auto rows = AllRows();
    for (uint32_t i = 0; i < 8 && !::testing::Test::HasFailure(); ++i) {
      CheckSequence(rows, static_cast<uint32_t>(GetParam()) * 8 + i, 200);
    }
  });
}
TEST_P(OpenSequence, OfProto2) {
  RunApart([] {
    for (uint32_t i = 0; i < 4 && !::testing::Test::HasFailure(); ++i) {
      CheckSequence(Proto2Rows(), static_cast<uint32_t>(GetParam()) * 4 + i, 200);
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Seeds, OpenSequence, ::testing::Range(0, 8));

// What protects this file: a test that compares nothing would pass for everything.
TEST(Safety, ADifferenceIsSeen) {
  const Row<Whole> row = {"differs", [](Whole& a, Whole&, Kept&) {
                            a.set_text(a.GetArena() == nullptr ? "heap" : "arena");
                          }};
  EXPECT_NE(BytesOf([&] {
              Whole message;
              Kept kept;
              row.apply(message, message, kept);
              return message;
            }()),
            [&] {
              google::protobuf::Arena arena;
              auto* message = CreateOn<Whole>(arena);
              Kept kept;
              row.apply(*message, *message, kept);
              return BytesOf(*message);
            }());
}

}  // namespace
}  // namespace harena::pb::codec
