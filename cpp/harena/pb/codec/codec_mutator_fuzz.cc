// How libFuzzer changes inputs of codec_fuzz.cc: as bytes, or as fields of a message.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "harena/pb/codec/test_random_message.h"
#include "harena/pb/codec/test_subject.h"
#include "harena/pb/codec/test_wire_mutation.h"

using namespace harena::pb::codec::test;  // NOLINT(google-build-using-namespace)

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                          unsigned seed);

namespace {

constexpr size_t kHead = 3;  // type, way, pieces

std::string RandomWire(uint8_t type, Random& random) {
  const Subject& subject = Subjects()[type % Subjects().size()];
  const std::unique_ptr<google::protobuf::Message> message(subject.prototype->New());
  FillRandomly(*message, random, {.depth_max = 3, .fields_max = 30});
  return message->SerializePartialAsString();
}

}  // namespace

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned seed) {
  Random random(seed);
  if (size < kHead || OneIn(random, 4)) return LLVMFuzzerMutate(data, size, size_max);
  if (OneIn(random, 8)) data[Below(random, kHead)] = static_cast<uint8_t>(random());
  std::string wire(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  switch (Below(random, 12)) {
    case 0:  // another message of that type
      wire = RandomWire(data[0], random);
      break;
    case 1:  // two messages make one
      wire += RandomWire(data[0], random);
      break;
    default:
      for (size_t i = 1 + Below(random, 3); i > 0; --i) wire = Mutate(wire, random);
  }
  const size_t kept = std::min(wire.size(), size_max - kHead);
  std::memcpy(data + kHead, wire.data(), kept);
  return kHead + kept;
}
