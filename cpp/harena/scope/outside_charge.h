// Memory outside of a scope that lives as long as the scope does.
#pragma once

#include <cstddef>

#include "harena/mem/budget.h"

namespace harena {

/// Counts such memory (string buffers that protobuf keeps on the heap) against the request's and
/// the process's budget, until the scope ends. Thread rule: the scope's thread. Lifetime rule: good
/// until all that was created on the scope has been destroyed.
class OutsideCharge {
 public:
  /// `slack_bytes` may go over the request's limit, as with blocks: the first block alone may be
  /// all of a small limit.
  OutsideCharge(Budget& budget, size_t slack_bytes) noexcept
      : budget_(budget), slack_bytes_(slack_bytes) {}
  OutsideCharge(const OutsideCharge&) = delete;
  OutsideCharge& operator=(const OutsideCharge&) = delete;

  /// On false nothing is counted and `*refusal` says why.
  [[nodiscard]] bool TryCharge(size_t bytes, Refusal* refusal = nullptr) noexcept {
    if (!budget_.TryCharge(bytes, slack_bytes_, refusal)) return false;
    if (!ProcessBudget().TryCharge(bytes, 0, refusal)) {
      budget_.Refund(bytes);
      return false;
    }
    bytes_ += bytes;
    return true;
  }

  /// Bytes counted so far.
  size_t bytes() const noexcept { return bytes_; }
  /// The request's budget.
  Budget& budget() noexcept { return budget_; }

 private:
  Budget& budget_;
  const size_t slack_bytes_;
  size_t bytes_ = 0;
};

}  // namespace harena
