// The options of a pool of scopes, as they may change while scopes are made.
#pragma once

#include <atomic>

#include "harena/scope/decode_limits.h"
#include "harena/scope/options.h"

namespace harena::scope_internal {

/// Each option by itself, so that reading costs no more than of a constant. A scope that is made
/// during a change may have one option of before and another of after.
/// Thread rule: any thread; Store() one at a time.
class LiveOptions {
 public:
  explicit LiveOptions(const Options& initial) : initial_(initial), live_(initial) {}

  /// One of those that Copy() names.
  template <typename T>
  T Get(T Options::*option) const noexcept {
    return std::atomic_ref(live_.*option).load(std::memory_order_relaxed);
  }
  DecodeLimits decode_limits() const noexcept {
    return {.ratio_max = Get(&Options::decoded_ratio_max),
            .floor_bytes = Get(&Options::decoded_floor_bytes),
            .depth_max = Get(&Options::depth_max)};
  }
  /// Where blocks come from, which cannot change.
  PagePool& pool() const noexcept { return initial_.pool(); }

  Options Load() const {
    Options options = initial_;
    Copy(live_, options);
    return options;
  }

  /// Takes over what may change. REQUIRES: options.Validate() finds nothing.
  void Store(Options options) noexcept { Copy(options, live_); }

 private:
  static void Copy(Options& from, Options& to) noexcept {
    const auto copy = [&](auto Options::*option) {
      std::atomic_ref(to.*option)
          .store(std::atomic_ref(from.*option).load(std::memory_order_relaxed),
                 std::memory_order_relaxed);
    };
    copy(&Options::mode);
    copy(&Options::request_bytes_max);
    copy(&Options::decoded_ratio_max);
    copy(&Options::decoded_floor_bytes);
    copy(&Options::depth_max);
    copy(&Options::first_block_bytes);
    copy(&Options::first_block_bytes_max);
    copy(&Options::first_block_percentile);
  }

  const Options initial_;
  mutable Options live_;  // touched atomically; an atomic_ref needs it mutable
};

}  // namespace harena::scope_internal
