// decoded_ratio_max while one request is parsed.
#pragma once

#include <cstddef>

#include "harena/mem/budget.h"
#include "harena/scope/decode_limits.h"

namespace harena::pb {

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
