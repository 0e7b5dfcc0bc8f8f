// What a ScopePool shares with its scopes, so that they may outlive it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "harena/base/compiler.h"
#include "harena/scope/bytes_histogram.h"
#include "harena/scope/internal/detached_list.h"
#include "harena/scope/internal/live_options.h"
#include "harena/scope/options.h"
#include "harena/scope/profile.h"

namespace harena::scope_internal {

/// What one scope took, when it ends.
struct ScopeUse {
  size_t bytes_used = 0;
  size_t bytes_in_blocks = 0;
  size_t outside_bytes = 0;
  bool beyond_first_block = false;
};

struct PoolState {
  PoolState(const Options& initial, std::string_view method)
      : options(initial),
        name(method),
        first_block_bytes(initial.first_block_bytes),
        next_sampled(initial.quarantine_one_in == 0 ? kNever : initial.quarantine_one_in) {}

  static constexpr uint64_t kNever = UINT64_MAX;

  /// Scopes between two looks at the profile.
  static constexpr uint64_t kScopesPerSizing = 64;

  LiveOptions options;
  const std::string name;
  bool messages_may_throw = true;
  std::mutex change;                      // held while options are checked together and changed
  std::atomic<size_t> first_block_bytes;  // of the next scope: as set, or as learned
  Profile profile;
  std::atomic<uint64_t> made{0};
  std::array<std::atomic<uint64_t>, BytesHistogram::kBuckets> ended{};  // by the bytes they used
  std::atomic<uint64_t> bytes_sum{0};
  std::atomic<uint64_t> bytes_max{0};
  std::atomic<uint64_t> block_bytes_sum{0};
  std::atomic<uint64_t> outside_bytes_sum{0};
  std::atomic<uint64_t> overflows{0};
  std::atomic<uint64_t> detached{0};
  DetachedList detached_live;
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> sampled{0};
  std::atomic<uint64_t> next_sampled;  // the first number whose scope is sampled next

  /// True for one scope in `quarantine_one_in`. Thread rule: any thread.
  bool IsSampled(uint64_t number) noexcept {
    return HARENA_UNLIKELY(number >= next_sampled.load(std::memory_order_relaxed)) &&
           ClaimSample(number);
  }
  bool ClaimSample(uint64_t number) noexcept;

  void RecordEnd(const ScopeUse& use) noexcept;

 private:
  void RecordMax(size_t bytes_used) noexcept;
};

}  // namespace harena::scope_internal
