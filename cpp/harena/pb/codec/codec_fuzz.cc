// A libFuzzer target: any bytes, any type, any way into a message; protobuf and the codec must
// agree.
//
// The first three bytes choose the type, the way, and the sizes of the pieces; the rest is wire.
// `make fuzz` runs it. codec_fuzz_test.cc runs the same body over inputs made from seeds.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using namespace harena::pb::codec::test;  // NOLINT(google-build-using-namespace)

ChunkSizes SizesOf(uint8_t choice) {
  static const ChunkSizes kSizes[] = {{1},     {2},         {3},       {5},      {7},
                                      {16},    {17},        {31},      {64},     {0, 4},
                                      {1, 40}, {15, 1, 16}, {8192, 3}, {1 << 20}};
  return kSizes[choice % std::size(kSizes)];
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // What is refused is not worth a line of log each.
  static const SilentLog quiet;
  static_cast<void>(quiet);
  if (size < 3) return 0;
  const Subject& subject = Subjects()[data[0] % Subjects().size()];
  const auto way = static_cast<Way>(data[1] % kWays);
  const std::string_view wire(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::string difference = Difference(subject, wire, way, SizesOf(data[2]));
  if (difference.empty()) return 0;
  std::fprintf(stderr, "%s\n", difference.c_str());
  std::abort();
}
