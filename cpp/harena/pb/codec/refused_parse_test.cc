// Frozen parses that a budget stops somewhere in the middle: refused cleanly, at any point, or
// right.
#include <memory>
#include <string>

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/codec/test_chunks.h"
#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/codec/test_random_message.h"
#include "harena/pb/codec/test_wire_mutation.h"

namespace harena::pb::codec::test {
namespace {

using google::protobuf::Message;

// Whether more wire may take more memory.
bool CanGrow(const google::protobuf::Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    if (field.is_repeated() || field.type() == field.TYPE_STRING ||
        field.type() == field.TYPE_MESSAGE) {
      return true;
    }
  }
  return false;
}

class Refused : public testing::TestWithParam<size_t> {};

TEST_P(Refused, AnywhereOrNowhere) {
  const SilentLog quiet;
  const Subject& subject = Subjects()[GetParam()];
  Random random(GetParam() + 7);
  PagePool pool(TestOptions());
  int refused = 0;
  for (int round = 0; round < 6; ++round) {
    const std::unique_ptr<Message> message(subject.prototype->New());
    FillRandomly(*message, random, {.depth_max = 4, .fields_max = 1500});
    std::string wire = StockBytes(*message);
    while (!wire.empty() && wire.size() < 40'000) wire += wire;
    if (OneIn(random, 3)) wire = Mutate(wire, random);
    const std::unique_ptr<Message> expected(subject.prototype->New());
    const bool accepted = expected->ParseFromString(wire);
    for (size_t bytes_max = 1024; bytes_max <= 16 * wire.size() + 4096;
         bytes_max += bytes_max / 3) {
      Scope scope({.request_bytes_max = bytes_max, .page_pool = &pool, .mode = Mode::kCodec});
      ChunkInputStream stream(wire, {1000, 7, 4096});
      const Subject::Parsed parsed = subject.parse_frozen(scope, stream, wire.size());
      switch (parsed.result.status) {
        case ParseStatus::kOk:
          ASSERT_TRUE(accepted);
          ASSERT_EQ(Hex(StockBytes(*parsed.message)), Hex(StockBytes(*expected)));
          break;
        case ParseStatus::kMalformed:
          ASSERT_FALSE(accepted);
          break;
        case ParseStatus::kRefused:
          ++refused;
          ASSERT_EQ(parsed.message, nullptr);
          EXPECT_GT(parsed.result.refusal.bytes_wanted, 0u);
      }
    }
  }
  if (subject.has_codec && CanGrow(*subject.prototype->GetDescriptor())) {
    EXPECT_GT(refused, 0);
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

INSTANTIATE_TEST_SUITE_P(Types, Refused, testing::Range(size_t{0}, Subjects().size()),
                         [](const auto& info) {
                           std::string name(Subjects()[info.param].name());
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace harena::pb::codec::test
