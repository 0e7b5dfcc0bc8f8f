// What the scopes of one pool did, counted so that threads do not meet.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harena/base/compiler.h"
#include "harena/base/thread_slot.h"
#include "harena/scope/histogram.h"

namespace harena::scope_internal {

/// What one scope took, when it ends.
struct ScopeUse {
  size_t bytes_used = 0;
  size_t bytes_in_blocks = 0;
  size_t outside_bytes = 0;
  size_t wire_bytes = 0;
  bool beyond_first_block = false;
  bool moved = false;  // made on another thread
};

/// One thread's counts, or those of all threads without a slot.
/// Thread rule: only the owner adds, with a load and a store; any thread reads. Without an owner
/// any thread adds, with a locked instruction.
class alignas(64) ThreadCounts {
 public:
  explicit ThreadCounts(bool owned) noexcept : owned_(owned) {}

  HARENA_INLINE void Add(std::atomic<uint64_t>& count, uint64_t more,
                         std::memory_order order = std::memory_order_relaxed) noexcept {
    if (HARENA_LIKELY(owned_)) {
      count.store(count.load(std::memory_order_relaxed) + more, order);
    } else {
      count.fetch_add(more, order);
    }
  }

  HARENA_INLINE void AddEnd(const ScopeUse& use) noexcept {
    Add(bytes_sum, use.bytes_used);
    Add(block_bytes_sum, use.bytes_in_blocks);
    if (use.wire_bytes != 0) Add(wire_bytes_sum, use.wire_bytes);
    if (HARENA_UNLIKELY(use.bytes_used > bytes_max.load(std::memory_order_relaxed))) {
      RaiseMax(use.bytes_used);
    }
    if (HARENA_UNLIKELY(use.beyond_first_block)) Add(overflows, 1);
    if (HARENA_UNLIKELY(use.outside_bytes != 0)) Add(outside_bytes_sum, use.outside_bytes);
    if (HARENA_UNLIKELY(use.moved)) Add(moved, 1);
    // Release: who sees a scope ended also sees it made, and what it used.
    Add(ended[BytesHistogram::BucketOf(use.bytes_used)], 1, std::memory_order_release);
  }

  // First what every scope touches.
  std::atomic<uint64_t> made{0};
  std::atomic<uint64_t> next_sampled{UINT64_MAX};  // of those made here, which is the next
  std::atomic<uint64_t> next_timed{0};             // likewise
  std::atomic<uint64_t> bytes_sum{0};
  std::atomic<uint64_t> block_bytes_sum{0};
  std::atomic<uint64_t> blocks_sum{0};
  // Those that ended and touch nothing of the pool any more, by the blocks they took: nearly all
  // took one or two, which are on the first cache line.
  std::array<std::atomic<uint64_t>, BlocksHistogram::kBuckets> released{};
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> wire_bytes_sum{0};

  std::atomic<uint64_t> bytes_max{0};
  std::array<std::atomic<uint64_t>, BytesHistogram::kBuckets> ended{};  // by the bytes they used
  std::atomic<uint64_t> moved{0};
  std::atomic<uint64_t> overflows{0};
  std::atomic<uint64_t> outside_bytes_sum{0};

 private:
  void RaiseMax(uint64_t bytes_used) noexcept {
    uint64_t before = bytes_max.load(std::memory_order_relaxed);
    while (bytes_used > before &&
           !bytes_max.compare_exchange_weak(before, bytes_used, std::memory_order_relaxed)) {
    }
  }

  const bool owned_;
};

/// The counts of one pool, by thread: made when a thread first counts there, so that a method takes
/// a few hundred bytes for each thread that has served it, of kThreadSlots at most. Thread rule:
/// any thread.
class ScopeCounts {
 public:
  /// `sample_one_in` as of Options::quarantine_one_in.
  explicit ScopeCounts(size_t sample_one_in) noexcept : sample_one_in_(sample_one_in) {
    BeginSampling(shared_);
  }
  ~ScopeCounts();
  ScopeCounts(const ScopeCounts&) = delete;
  ScopeCounts& operator=(const ScopeCounts&) = delete;

  HARENA_INLINE ThreadCounts& OfThread(uint32_t slot = ThreadSlot()) noexcept {
    if (HARENA_UNLIKELY(slot >= kThreadSlots)) return shared_;
    ThreadCounts* const counts = threads_[slot].load(std::memory_order_acquire);
    return HARENA_LIKELY(counts != nullptr) ? *counts : MakeThreadCounts(slot);
  }

  /// The sum over all threads.
  uint64_t Sum(std::atomic<uint64_t> ThreadCounts::*count) const noexcept {
    uint64_t sum = 0;
    ForEach([&](const ThreadCounts& counts) {
      sum += (counts.*count).load(std::memory_order_relaxed);
    });
    return sum;
  }

  template <typename Visit>
  void ForEach(Visit visit) const {
    visit(shared_);
    for (const auto& counts : threads_) {
      if (const ThreadCounts* const there = counts.load(std::memory_order_acquire)) visit(*there);
    }
  }

  /// For one scope in `sample_one_in` or in kTimedOneIn, at random. `number` is its number among
  /// those made in the counts. Thread rule: the counts's.
  HARENA_INLINE bool IsSampled(ThreadCounts& counts, uint64_t number) noexcept {
    return HARENA_UNLIKELY(number >= counts.next_sampled.load(std::memory_order_relaxed)) &&
           Claim(counts.next_sampled, number, sample_one_in_);
  }
  HARENA_INLINE bool IsTimed(ThreadCounts& counts, uint64_t number) noexcept {
    return HARENA_UNLIKELY(number >= counts.next_timed.load(std::memory_order_relaxed)) &&
           Claim(counts.next_timed, number, kTimedOneIn);
  }

  static constexpr size_t kTimedOneIn = 64;

 private:
  ThreadCounts& MakeThreadCounts(uint32_t slot) noexcept;
  void BeginSampling(ThreadCounts& counts) noexcept;
  static bool Claim(std::atomic<uint64_t>& next, uint64_t number, size_t one_in) noexcept;

  const size_t sample_one_in_;
  ThreadCounts shared_{/*owned=*/false};
  std::array<std::atomic<ThreadCounts*>, kThreadSlots> threads_{};
};

}  // namespace harena::scope_internal
