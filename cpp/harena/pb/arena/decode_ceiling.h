// The limits of one parse, beside the bytes of its budget.
#pragma once

#include <cstddef>

#include "harena/mem/budget.h"
#include "harena/scope/decode_limits.h"

namespace harena::pb {

/// Whether the user has set a limit on the bytes that a request may take. The default of mode
/// `codec` is none.
inline bool IsLimited(const Budget& budget, const DecodeLimits& limits) noexcept {
  return IsBounded(budget) || limits.has_ratio();
}

/// For a wire that nests too deep: throws BudgetExceeded where depth_max was set. Elsewhere it is
/// malformed, as it is for protobuf.
inline void ThrowIfDepthIsLimited(const DecodeLimits& limits) {
  const int levels_max = limits.depth_max;
  if (levels_max != 0) throw BudgetExceeded({.limit = kDepthMax, .levels_max = levels_max});
}

/// While it stands, the budget grants no more than the limits allow for that much wire.
/// Thread rule and lifetime rule: as BudgetCeiling.
class DecodeCeiling {
 public:
  DecodeCeiling(Budget& budget, const DecodeLimits& limits, size_t wire_bytes) noexcept
      : limits_(limits),
        wire_bytes_(wire_bytes),
        held_bytes_(budget.bytes_used()),
        ceiling_(budget, kDecodedRatioMax, Sum(held_bytes_, limits.BytesMax(wire_bytes))) {}

  /// Says of a refusal by this ceiling what it was made of.
  Refusal Explained(Refusal refusal) const noexcept {
    if (refusal.limit != kDecodedRatioMax) return refusal;
    refusal.bytes_max -= held_bytes_;
    refusal.bytes_used -= held_bytes_;
    refusal.ratio_max = limits_.ratio_max;
    refusal.floor_bytes = limits_.floor_bytes;
    refusal.wire_bytes = wire_bytes_;
    return refusal;
  }

 private:
  static size_t Sum(size_t a, size_t b) noexcept {
    return a > kUnlimitedBytes - b ? kUnlimitedBytes : a + b;
  }

  const DecodeLimits limits_;
  const size_t wire_bytes_;
  const size_t held_bytes_;
  const BudgetCeiling ceiling_;
};

}  // namespace harena::pb
