// What a ScopePool shares with its scopes, so that they may outlive it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "harena/scope/options.h"
#include "harena/scope/profile.h"

namespace harena::scope_internal {

struct PoolState {
  explicit PoolState(const Options& initial) noexcept
      : options(initial), mode(initial.mode), request_bytes_max(initial.request_bytes_max) {}

  /// Scopes between two looks at the profile.
  static constexpr uint64_t kScopesPerSizing = 64;

  const Options options;  // as given; the fields below are what may change
  bool messages_may_throw = true;
  std::mutex change;  // held while mode and limit are checked together
  std::atomic<Mode> mode;
  std::atomic<size_t> request_bytes_max;
  std::atomic<size_t> first_block_bytes{0};
  Profile profile;
  std::atomic<uint64_t> made{0};
  std::atomic<uint64_t> ended{0};
  std::atomic<uint64_t> detached{0};
  std::atomic<uint64_t> refused{0};

  void RecordEnd(size_t bytes_used) noexcept;
};

}  // namespace harena::scope_internal
