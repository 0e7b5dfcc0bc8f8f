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
  for (const auto& lane : lanes_) delete lane.load(std::memory_order_acquire);
}

HARENA_NOINLINE CountLane& ScopeCounts::MakeLane(uint32_t slot) noexcept {
  auto* const lane = new (std::nothrow) CountLane(/*owned=*/true);
  if (lane == nullptr) return shared_;
  BeginSampling(*lane);
  lanes_[slot].store(lane, std::memory_order_release);
  return *lane;
}

// The first lane's first sample is where it is awaited; those of the others are anywhere, so that
// many threads with few scopes each are sampled as one with many.
void ScopeCounts::BeginSampling(CountLane& lane) noexcept {
  lane.next_timed.store(RandomStep(1, &lane, kTimedOneIn), std::memory_order_relaxed);
  if (sample_one_in_ == 0) return;
  const bool first = &lane != &shared_ && Sum(&CountLane::made) == 0;
  lane.next_sampled.store(first ? sample_one_in_ : RandomStep(0, &lane, sample_one_in_),
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
