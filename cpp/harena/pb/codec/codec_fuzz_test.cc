// A short, repeatable run of the fuzzer's body: random messages, and what becomes of them.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "harena/pb/codec/test_random_message.h"
#include "harena/pb/codec/test_subject.h"
#include "harena/pb/codec/test_wire_mutation.h"
#include "tests/safety_count.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace harena::pb::codec::test {
namespace {

class CodecFuzz : public testing::TestWithParam<int> {};

TEST_P(CodecFuzz, InputsFromASeed) {
  constexpr int kMessages = 400;
  Random random(static_cast<uint64_t>(GetParam()));
  for (int i = 0; i < kMessages; ++i) {
    const size_t type = Below(random, Subjects().size());
    const std::unique_ptr<google::protobuf::Message> message(Subjects()[type].prototype->New());
    FillRandomly(*message, random, {.depth_max = 3, .fields_max = 60});
    std::string wire = message->SerializePartialAsString();
    for (int changes = 0; changes < 4; ++changes) {
      std::string input{static_cast<char>(type), static_cast<char>(random()),
                        static_cast<char>(random())};
      input += wire;
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
      wire = Mutate(wire, random);
    }
  }
  SafetyCount("inputs_tried", 4 * kMessages);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CodecFuzz, testing::Range(1, 9));

}  // namespace
}  // namespace harena::pb::codec::test
