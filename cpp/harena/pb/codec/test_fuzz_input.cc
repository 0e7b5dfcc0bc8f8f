#include "harena/pb/codec/test_fuzz_input.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace harena::pb::codec::test {

void StopAt(const std::string& problem) {
  if (problem.empty()) return;
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
