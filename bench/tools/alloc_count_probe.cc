// A program that allocates a known number of times, for the counter's test.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

#include "bench/tools/alloc_count_reader.h"

namespace {

constexpr int kRounds = 1000;
void* volatile sink;  // keeps the compiler from removing allocations

struct alignas(128) Wide {
  char bytes[128];
};

void AllocateSixTimes() {
  void* block = std::malloc(100);
  sink = block;
  block = std::realloc(block, 5000);
  sink = block;
  std::free(block);
  sink = block = std::calloc(3, 7);
  std::free(block);
  int* number = new int(1);
  sink = number;
  delete number;
  Wide* wide = new Wide;
  sink = wide;
  delete wide;
  if (posix_memalign(&block, 64, 64) != 0) std::abort();
  sink = block;
  std::free(block);
}

}  // namespace

int main() {
  const char* path = std::getenv(harena::bench::kAllocCountEnv);
  if (path == nullptr) return 2;
  const harena::bench::AllocCountReader reader(path);
  const harena::bench::AllocCounts before = reader.Read();
  for (int i = 0; i < kRounds; ++i) AllocateSixTimes();
  const harena::bench::AllocCounts after = reader.Read();
  const auto allocations = after.allocations - before.allocations;
  const auto frees = after.frees - before.frees;
  std::printf("%d rounds: %llu allocations, %llu frees\n", kRounds,
              static_cast<unsigned long long>(allocations), static_cast<unsigned long long>(frees));
  // All of it was this thread's.
  const auto of_others = reader.Read(gettid()).allocations;
  return allocations == 6 * kRounds && frees == 5 * kRounds && of_others == 0 ? 0 : 1;
}
