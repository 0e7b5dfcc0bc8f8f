// What a request's bytes may turn into.
#pragma once

#include <cstddef>
#include <limits>

#include "harena/mem/budget.h"

namespace harena {

/// The most that depth_max may be, in levels: what protobuf parses without a bound of ours.
inline constexpr int kDepthLevelsMax = 100;

/// decoded_ratio_max: any number of bytes.
inline constexpr double kUnlimitedRatio = std::numeric_limits<double>::infinity();
/// What holds in mode `codec` without a word, for types with generated code: honest requests decode
/// into 2 to 10 times their wire.
inline constexpr double kDefaultDecodedRatioMax = 64;
inline constexpr size_t kDefaultDecodedFloorBytes = size_t{64} << 20;

/// Limits of one parse, beside the scope's budget. Options has the same three, and docs/budgets.md
/// says how to choose them.
struct DecodeLimits {
  /// Bytes that decoding may take per byte on the wire; kUnlimitedRatio for any number. 0 for the
  /// default: any number, but in mode `codec`, for types with generated code, no more than
  /// kDefaultDecodedRatioMax times the wire once that is above kDefaultDecodedFloorBytes.
  double ratio_max = 0;
  /// What decoding may always take, however small the request is.
  size_t floor_bytes = size_t{1} << 20;
  /// Levels of messages, the request itself included, 1 to kDepthLevelsMax; 0 for protobuf's own
  /// limit.
  int depth_max = 0;

  /// Whether somebody has said how much decoding may take.
  bool has_ratio() const noexcept { return ratio_max != 0 && ratio_max != kUnlimitedRatio; }
  /// The same with the default of mode `codec` where nothing was said.
  DecodeLimits OrDefault() const noexcept {
    if (ratio_max != 0) return *this;
    DecodeLimits limits = *this;
    limits.ratio_max = kDefaultDecodedRatioMax;
    limits.floor_bytes = kDefaultDecodedFloorBytes;
    return limits;
  }

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
