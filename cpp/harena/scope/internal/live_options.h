// The options of a pool of scopes, as they may change while scopes are made.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>

#include "harena/scope/decode_limits.h"
#include "harena/scope/mode.h"
#include "harena/scope/options.h"

namespace harena::scope_internal {

/// Each option by itself, so that reading costs no more than of a constant. A scope that is made
/// during a change may have one option of before and another of after.
/// Thread rule: any thread; Store() one at a time.
class LiveOptions {
 public:
  explicit LiveOptions(const Options& initial) : initial_(initial) { Store(initial); }

  Mode mode() const noexcept { return mode_.load(std::memory_order_relaxed); }
  size_t request_bytes_max() const noexcept {
    return request_bytes_max_.load(std::memory_order_relaxed);
  }
  size_t first_block_bytes() const noexcept {
    return first_block_bytes_.load(std::memory_order_relaxed);
  }
  DecodeLimits decode_limits() const noexcept {
    return {.ratio_max = decoded_ratio_max_.load(std::memory_order_relaxed),
            .floor_bytes = decoded_floor_bytes_.load(std::memory_order_relaxed),
            .depth_max = depth_max_.load(std::memory_order_relaxed)};
  }
  size_t quarantine_one_in() const noexcept { return initial_.quarantine_one_in; }
  PagePool& pool() const noexcept { return initial_.pool(); }

  Options Load() const {
    Options options = initial_;
    options.mode = mode();
    options.request_bytes_max = request_bytes_max();
    const DecodeLimits limits = decode_limits();
    options.decoded_ratio_max = limits.ratio_max;
    options.decoded_floor_bytes = limits.floor_bytes;
    options.depth_max = limits.depth_max;
    options.first_block_bytes = first_block_bytes();
    options.first_block_bytes_max = first_block_bytes_max_.load(std::memory_order_relaxed);
    options.first_block_percentile = first_block_percentile_.load(std::memory_order_relaxed);
    return options;
  }

  /// What of `changed` cannot be changed any more; nullopt when all can.
  std::optional<std::string> WhyFixed(const Options& changed) const;

  /// REQUIRES: WhyFixed(options) and options.Validate() find nothing.
  void Store(const Options& options) noexcept {
    mode_.store(options.mode, std::memory_order_relaxed);
    request_bytes_max_.store(options.request_bytes_max, std::memory_order_relaxed);
    decoded_ratio_max_.store(options.decoded_ratio_max, std::memory_order_relaxed);
    decoded_floor_bytes_.store(options.decoded_floor_bytes, std::memory_order_relaxed);
    depth_max_.store(options.depth_max, std::memory_order_relaxed);
    first_block_bytes_.store(options.first_block_bytes, std::memory_order_relaxed);
    first_block_bytes_max_.store(options.first_block_bytes_max, std::memory_order_relaxed);
    first_block_percentile_.store(options.first_block_percentile, std::memory_order_relaxed);
  }

 private:
  const Options initial_;
  std::atomic<Mode> mode_;
  std::atomic<size_t> request_bytes_max_;
  std::atomic<double> decoded_ratio_max_;
  std::atomic<size_t> decoded_floor_bytes_;
  std::atomic<int> depth_max_;
  std::atomic<size_t> first_block_bytes_;
  std::atomic<size_t> first_block_bytes_max_;
  std::atomic<double> first_block_percentile_;
};

}  // namespace harena::scope_internal
