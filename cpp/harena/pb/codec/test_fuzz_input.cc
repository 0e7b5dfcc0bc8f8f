#include "harena/pb/codec/test_fuzz_input.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "harena/pb/codec/test_log.h"

namespace harena::pb::codec::test {

int FuzzOne(const uint8_t* data, size_t size, std::string (*problem_of)(const FuzzInput&)) {
  static const SilentLog quiet;
  static_cast<void>(quiet);
  if (size < kFuzzInputForm.head_bytes) return 0;
  const std::string problem = problem_of(FuzzInput(data, size, kFuzzInputForm));
  if (problem.empty()) return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}

const ChunkSizes& PiecesOf(uint8_t choice) {
  static const ChunkSizes kSizes[] = {{1},     {2},         {3},       {5},      {7},
                                      {16},    {17},        {31},      {64},     {0, 4},
                                      {1, 40}, {15, 1, 16}, {8192, 3}, {1 << 20}};
  return kSizes[choice % std::size(kSizes)];
}

}  // namespace harena::pb::codec::test
