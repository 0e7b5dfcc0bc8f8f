// A libFuzzer target: any bytes, any type, any way into a message; protobuf and the codec must
// agree.
//
// The first three bytes choose the type, the way, and the sizes of the pieces; the rest is wire.
// `make fuzz` runs it. codec_fuzz_test.cc runs the same body over inputs made from seeds.
#include <cstddef>
#include <cstdint>

#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_fuzz_input.h"
#include "harena/pb/codec/test_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace harena::pb::codec::test {
const FuzzInputForm kFuzzInputForm{.head_bytes = 3, .subjects = &Subjects};
}

using namespace harena::pb::codec::test;  // NOLINT(google-build-using-namespace)

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // What is refused is not worth a line of log each.
  static const SilentLog quiet;
  static_cast<void>(quiet);
  if (size < kFuzzInputForm.head_bytes) return 0;
  const FuzzInput input(data, size, kFuzzInputForm);
  const auto way = static_cast<Way>(input.head[1] % kWays);
  StopAt(Difference(*input.subject, input.wire, way, PiecesOf(input.head[2])));
  return 0;
}
