// A libFuzzer target: any bytes, any type, any way into a message; protobuf and the codec must
// agree.
//
// The first three bytes choose the type, the way, and the sizes of the pieces; the rest is wire.
// `make fuzz` runs it. codec_fuzz_test.cc runs the same body over inputs made from seeds.
#include <cstddef>
#include <cstdint>
#include <string>

#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace harena::pb::codec::test {

const FuzzInputForm kFuzzInputForm{.head_bytes = 3, .subjects = &Subjects};

namespace {

std::string Problem(const FuzzInput& input) {
  const auto way = static_cast<Way>(input.head[1] % kWays);
  return Difference(*input.subject, input.wire, way, PiecesOf(input.head[2]));
}

}  // namespace
}  // namespace harena::pb::codec::test

using namespace harena::pb::codec::test;  // NOLINT(google-build-using-namespace)

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return FuzzOne(data, size, &Problem);
}
