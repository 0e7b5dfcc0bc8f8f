// What a block of 64 KiB costs from the pool and from malloc: on one thread, and when another
// thread gives it back. A row is NAME/RIVAL; bench/mem/run.py makes the table of them.
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory_resource>
#include <thread>

#include <benchmark/benchmark.h>

#include "harena/mem/page_pool.h"

namespace harena {
namespace {

constexpr size_t kBlockBytes = size_t{64} << 10;

struct FromPool {
  static void* Take() { return PagePool::Default().TryAllocate(kBlockBytes).data; }
  static void Give(void* data) { PagePool::Default().Free(data, kBlockBytes); }
};

struct FromMalloc {
  static void* Take() { return std::malloc(kBlockBytes); }
  static void Give(void* data) { std::free(data); }
};

template <typename Source>
void BlockPair(benchmark::State& state) {
  for (auto _ : state) {
    void* data = Source::Take();
    benchmark::DoNotOptimize(data);
    Source::Give(data);
  }
}
BENCHMARK_TEMPLATE(BlockPair, FromPool)->Name("block_pair/harena");
BENCHMARK_TEMPLATE(BlockPair, FromMalloc)->Name("block_pair/malloc");

void BlockPairPoolResource(benchmark::State& state) {
  std::pmr::unsynchronized_pool_resource resource(
      {.max_blocks_per_chunk = 32, .largest_required_pool_block = kBlockBytes});
  for (auto _ : state) {
    void* data = resource.allocate(kBlockBytes);
    benchmark::DoNotOptimize(data);
    resource.deallocate(data, kBlockBytes);
  }
}
BENCHMARK(BlockPairPoolResource)->Name("block_pair/pool_resource");

// One writer, one reader, no lock: what is measured is the memory, not the queue.
class Ring {
 public:
  bool Push(void* data) {
    const size_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) == slots_.size()) return false;
    slots_[head % slots_.size()] = data;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }
  void* Pop() {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) return nullptr;
    void* data = slots_[tail % slots_.size()];
    tail_.store(tail + 1, std::memory_order_release);
    return data;
  }

 private:
  std::array<void*, 256> slots_;
  alignas(64) std::atomic<size_t> head_{0};
  alignas(64) std::atomic<size_t> tail_{0};
};

// This thread takes and writes one byte, another one gives back. Wall time per block.
template <typename Source>
void CrossThread(benchmark::State& state) {
  Ring ring;
  std::atomic<bool> stop{false};
  std::thread consumer([&] {
    for (;;) {
      if (void* data = ring.Pop()) {
        Source::Give(data);
      } else if (stop.load(std::memory_order_acquire)) {
        if ((data = ring.Pop()) == nullptr) return;
        Source::Give(data);
      } else {
        std::this_thread::yield();
      }
    }
  });
  for (auto _ : state) {
    void* data = Source::Take();
    *static_cast<volatile char*>(data) = 1;
    while (!ring.Push(data)) std::this_thread::yield();
  }
  stop.store(true, std::memory_order_release);
  consumer.join();
}
BENCHMARK_TEMPLATE(CrossThread, FromPool)->Name("cross_thread/harena")->UseRealTime();
BENCHMARK_TEMPLATE(CrossThread, FromMalloc)->Name("cross_thread/malloc")->UseRealTime();

}  // namespace
}  // namespace harena
