// How libFuzzer changes inputs of the fuzzers here: as bytes, or as fields of a message.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "harena/pb/codec/test_fuzz_input.h"
#include "harena/pb/codec/test_hostile_wire.h"
#include "harena/pb/codec/test_random_message.h"
#include "harena/pb/codec/test_wire_mutation.h"

using namespace harena::pb::codec::test;  // NOLINT(google-build-using-namespace)

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                          unsigned seed);

namespace {

std::string RandomWire(const Subject& subject, size_t bytes_max, Random& random) {
  if (OneIn(random, 3)) {
    const auto hostility = static_cast<Hostility>(Below(random, kHostilities));
    return HostileWire(*subject.prototype->GetDescriptor(), hostility, 1 + Below(random, bytes_max),
                       random);
  }
  const std::unique_ptr<google::protobuf::Message> message(subject.prototype->New());
  FillRandomly(*message, random, {.depth_max = 3, .fields_max = 30});
  return message->SerializePartialAsString();
}

}  // namespace

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned seed) {
  const size_t head_bytes = kFuzzInputForm.head_bytes;
  Random random(seed);
  if (size < head_bytes || size_max <= head_bytes || OneIn(random, 4)) {
    return LLVMFuzzerMutate(data, size, size_max);
  }
  if (OneIn(random, 4)) data[Below(random, head_bytes)] = static_cast<uint8_t>(random());
  const size_t wire_bytes_max = size_max - head_bytes;
  const FuzzInput input(data, size, kFuzzInputForm);
  std::string wire(input.wire);
  switch (Below(random, 12)) {
    case 0:  // another message of that type
      wire = RandomWire(*input.subject, wire_bytes_max, random);
      break;
    case 1:  // two messages make one
      wire += RandomWire(*input.subject, wire_bytes_max, random);
      break;
    default:
      for (size_t i = 1 + Below(random, 3); i > 0; --i) wire = Mutate(wire, random);
  }
  const size_t kept = std::min(wire.size(), wire_bytes_max);
  std::memcpy(data + head_bytes, wire.data(), kept);
  return head_bytes + kept;
}
