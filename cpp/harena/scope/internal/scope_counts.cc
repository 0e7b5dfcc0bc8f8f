#include "harena/scope/internal/scope_counts.h"

#include <new>

#include "harena/base/clock.h"

namespace harena::scope_internal {
namespace {

// From 1 to 2 * one_in - 1, so one_in on average: at random, so that traffic with a rhythm of its
// own is sampled as well as any other.
uint64_t RandomStep(uint64_t number, const void* place, size_t one_in) noexcept {
  uint64_t random =
      number * 0x9e3779b97f4a7c15 ^ reinterpret_cast<uintptr_t>(place) ^ CoarseMillis() << 32;
  random = (random ^ (random >> 31)) * 0xbf58476d1ce4e5b9;
  return 1 + (random >> 16) % (2 * one_in - 1);
}

}  // namespace

ScopeCounts::~ScopeCounts() {
  for (const auto& counts : threads_) delete counts.load(std::memory_order_acquire);
}

HARENA_NOINLINE ThreadCounts& ScopeCounts::MakeThreadCounts(uint32_t slot) noexcept {
  auto* const counts = new (std::nothrow) ThreadCounts(/*owned=*/true);
  if (counts == nullptr) return shared_;
  BeginSampling(*counts);
  threads_[slot].store(counts, std::memory_order_release);
  return *counts;
}

// The first thread's first sample is where it is awaited; those of the others are anywhere, so that
// many threads with few scopes each are sampled as one with many.
void ScopeCounts::BeginSampling(ThreadCounts& counts) noexcept {
  counts.next_timed.store(RandomStep(1, &counts, kTimedOneIn), std::memory_order_relaxed);
  if (sample_one_in_ == 0) return;
  const bool first = &counts != &shared_ && Sum(&ThreadCounts::made) == 0;
  counts.next_sampled.store(first ? sample_one_in_ : RandomStep(0, &counts, sample_one_in_),
                            std::memory_order_relaxed);
}

HARENA_NOINLINE bool ScopeCounts::Claim(std::atomic<uint64_t>& next, uint64_t number,
                                        size_t one_in) noexcept {
  uint64_t due = next.load(std::memory_order_relaxed);
  if (number < due) return false;
  return next.compare_exchange_strong(due, number + RandomStep(number, &next, one_in),
                                      std::memory_order_relaxed);
}

}  // namespace harena::scope_internal
