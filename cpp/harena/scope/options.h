#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "harena/mem/page_pool.h"
#include "harena/scope/decode_limits.h"
#include "harena/scope/mode.h"

namespace harena {

/// How the requests of a method are given memory. The defaults need no tuning; docs/tuning.md says
/// what each option does. A server has one set and may override it per method.
struct Options {
  Mode mode = Mode::kCodec;

  /// Bytes that one request may take: its messages, its strings as far as the wire bounds them, and
  /// what the handler allocates on the scope. Crossing it fails that request alone.
  size_t request_bytes_max = kUnlimitedBytes;
  /// What decoding a request may take per byte of its wire, strings included: a guard against small
  /// requests that decode into much, which a limit for the largest honest one lets pass. It counts
  /// from what the scope has when decoding begins. 0 for the default: in mode `codec` 64 times the
  /// wire once that is above 64 MiB, for types with generated code, elsewhere no bound.
  /// kUnlimitedRatio for no bound at all.
  double decoded_ratio_max = 0;
  /// What decoding may take in any case: below it nothing is refused for its ratio.
  size_t decoded_floor_bytes = size_t{1} << 20;
  /// Levels of messages that a request may nest, itself included, 1 to kDepthLevelsMax. 0 for
  /// protobuf's own limit, which is about that.
  int depth_max = 0;

  /// Bytes of a scope's first block. 0 learns them from the method's requests.
  size_t first_block_bytes = 0;
  /// The learned first block is never larger than this, nor than a quarter of request_bytes_max;
  /// what does not fit goes on in pages.
  size_t first_block_bytes_max = size_t{256} << 10;
  /// The share of requests, in percent, that should fit into the learned first block.
  double first_block_percentile = 75;

  /// Mode `reuse`: instances kept per method when idle.
  size_t reuse_instances_max = 16;
  /// Mode `reuse`: an instance that holds more than this is dropped instead of kept. What it may
  /// hold in strings on the heap cannot be measured; it is bounded by the wire bytes that went
  /// through it.
  size_t reuse_bytes_max = size_t{16} << 20;
  /// Mode `reuse`: an instance is rebuilt when it holds more than this many times what 90 % of the
  /// method's fresh instances needed. protobuf's Clear() leaks map nodes into a kept arena, so
  /// growth is the only signal that can be trusted.
  double reuse_growth_max = 2;

  /// One in so many scopes, at random, is given pages of its own, which nobody gets after it: a
  /// touch of its memory after its end is a fault, which InstallFaultReporter() explains. 0 turns
  /// it off; 1 takes every scope. In modes `heap` and `arena` that is what the handler makes on the
  /// scope, as the messages are elsewhere.
  size_t quarantine_one_in = 1000;

  /// Where blocks come from; null for PagePool::Default().
  /// Lifetime rule: must outlive every scope made with these options.
  PagePool* page_pool = nullptr;

  /// What is wrong with these options and how to put it right; nullopt when nothing is.
  std::optional<std::string> Validate() const;

  DecodeLimits decode_limits() const noexcept {
    return {
        .ratio_max = decoded_ratio_max, .floor_bytes = decoded_floor_bytes, .depth_max = depth_max};
  }

  PagePool& pool() const noexcept {
    return page_pool != nullptr ? *page_pool : PagePool::Default();
  }
};

}  // namespace harena
