// What one allocation on an arena costs, beside malloc and the standard memory resources.
// A row is NAME/RIVAL; bench/mem/run.py makes the table of them.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <random>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "harena/mem/arena.h"
#include "harena/mem/page_pool.h"

namespace harena {
namespace {

// Sizes of one round and how many there are; 48 KiB or so, so that one page serves a round.
constexpr int kPerRound = 768;
constexpr size_t kSmallBytes = 64;

const std::array<uint32_t, kPerRound>& MixedSizes() {
  static const auto sizes = [] {
    std::array<uint32_t, kPerRound> result;
    std::mt19937 random(1);
    // Eight in ten are small: strings, sub-messages, map nodes; the rest are arrays.
    for (uint32_t& size : result) {
      const bool small = std::uniform_int_distribution<int>(0, 9)(random) < 8;
      size = std::uniform_int_distribution<uint32_t>(8, small ? 64 : 160)(random);
    }
    return result;
  }();
  return sizes;
}

size_t SizeOf(int i, bool mixed) {
  return mixed ? MixedSizes()[static_cast<size_t>(i)] : kSmallBytes;
}

// Giving the memory back is in the measured time: for arenas once a round, else once an allocation.
template <bool kMixed>
void ArenaAllocate(benchmark::State& state) {
  Arena arena;
  int left = 0;
  for (auto _ : state) {
    if (left == 0) {
      arena.Reset(Retain::kFirstBlock);
      left = kPerRound;
    }
    --left;
    benchmark::DoNotOptimize(arena.Allocate(SizeOf(left, kMixed)));
  }
}
BENCHMARK_TEMPLATE(ArenaAllocate, false)->Name("allocate_64/harena");
BENCHMARK_TEMPLATE(ArenaAllocate, true)->Name("allocate_mixed/harena");

template <bool kMixed>
void MonotonicAllocate(benchmark::State& state) {
  std::vector<std::byte> buffer(size_t{64} << 10);
  std::pmr::monotonic_buffer_resource resource(buffer.data(), buffer.size());
  int left = 0;
  for (auto _ : state) {
    if (left == 0) {
      resource.release();
      left = kPerRound;
    }
    --left;
    benchmark::DoNotOptimize(resource.allocate(SizeOf(left, kMixed)));
  }
}
BENCHMARK_TEMPLATE(MonotonicAllocate, false)->Name("allocate_64/monotonic");
BENCHMARK_TEMPLATE(MonotonicAllocate, true)->Name("allocate_mixed/monotonic");

template <bool kMixed>
void PoolResourceAllocate(benchmark::State& state) {
  std::pmr::unsynchronized_pool_resource resource;
  std::array<void*, kPerRound> taken{};
  int left = 0;
  for (auto _ : state) {
    if (left == 0) {
      for (int i = 0; i < kPerRound; ++i) {
        void*& data = taken[static_cast<size_t>(i)];
        if (data != nullptr) resource.deallocate(data, SizeOf(i, kMixed));
      }
      left = kPerRound;
    }
    --left;
    benchmark::DoNotOptimize(taken[static_cast<size_t>(left)] =
                                 resource.allocate(SizeOf(left, kMixed)));
  }
  for (int i = left; i < kPerRound; ++i) {
    resource.deallocate(taken[static_cast<size_t>(i)], SizeOf(i, kMixed));
  }
}
BENCHMARK_TEMPLATE(PoolResourceAllocate, false)->Name("allocate_64/pool_resource");
BENCHMARK_TEMPLATE(PoolResourceAllocate, true)->Name("allocate_mixed/pool_resource");

template <bool kMixed>
void MallocAllocate(benchmark::State& state) {
  std::array<void*, kPerRound> taken{};
  int left = 0;
  for (auto _ : state) {
    if (left == 0) {
      for (void*& data : taken) std::free(std::exchange(data, nullptr));
      left = kPerRound;
    }
    --left;
    benchmark::DoNotOptimize(taken[static_cast<size_t>(left)] = std::malloc(SizeOf(left, kMixed)));
  }
  for (void* data : taken) std::free(data);
}
BENCHMARK_TEMPLATE(MallocAllocate, false)->Name("allocate_64/malloc");
BENCHMARK_TEMPLATE(MallocAllocate, true)->Name("allocate_mixed/malloc");

// A whole round: take one object, give everything back.
void ArenaReset(benchmark::State& state) {
  Arena arena;
  for (auto _ : state) {
    benchmark::DoNotOptimize(arena.Allocate(kSmallBytes));
    arena.Reset(Retain::kFirstBlock);
  }
}
BENCHMARK(ArenaReset)->Name("reset/harena");

void MonotonicReset(benchmark::State& state) {
  std::vector<std::byte> buffer(size_t{64} << 10);
  std::pmr::monotonic_buffer_resource resource(buffer.data(), buffer.size());
  for (auto _ : state) {
    benchmark::DoNotOptimize(resource.allocate(kSmallBytes));
    resource.release();
  }
}
BENCHMARK(MonotonicReset)->Name("reset/monotonic");

void PoolResourceReset(benchmark::State& state) {
  std::pmr::unsynchronized_pool_resource resource;
  for (auto _ : state) {
    void* data = resource.allocate(kSmallBytes);
    benchmark::DoNotOptimize(data);
    resource.deallocate(data, kSmallBytes);
  }
}
BENCHMARK(PoolResourceReset)->Name("reset/pool_resource");

void MallocReset(benchmark::State& state) {
  for (auto _ : state) {
    void* data = std::malloc(kSmallBytes);
    benchmark::DoNotOptimize(data);
    std::free(data);
  }
}
BENCHMARK(MallocReset)->Name("reset/malloc");

}  // namespace
}  // namespace harena
