// What a request's bytes may turn into.
#pragma once

#include <cstddef>
#include <limits>

#include "harena/mem/budget.h"

namespace harena {

/// The most that depth_max may be, in levels: what protobuf parses without a bound of ours.
inline constexpr int kDepthLevelsMax = 100;

/// Limits of one parse, beside the scope's budget. Options has the same three, and docs/budgets.md
/// says how to choose them.
struct DecodeLimits {
  /// Bytes that decoding may take per byte on the wire; 0 for any number.
  double ratio_max = 0;
  /// What decoding may always take, however small the request is.
  size_t floor_bytes = size_t{1} << 20;
  /// Levels of messages, the request itself included, 1 to kDepthLevelsMax; 0 for protobuf's own
  /// limit.
  int depth_max = 0;

  /// What a request of that size may be decoded into.
  size_t BytesMax(size_t wire_bytes) const noexcept {
    if (ratio_max == 0) return kUnlimitedBytes;
    const double bytes = ratio_max * static_cast<double>(wire_bytes);
    constexpr auto kMost = static_cast<double>(std::numeric_limits<size_t>::max()) / 2;
    const size_t by_ratio = bytes < kMost ? static_cast<size_t>(bytes) : kUnlimitedBytes;
    return by_ratio > floor_bytes ? by_ratio : floor_bytes;
  }
};

}  // namespace harena
