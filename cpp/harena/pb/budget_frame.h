#pragma once

#include "harena/mem/budget.h"

namespace harena::pb {

/// Marks a stretch of one thread in which somebody above catches BudgetExceeded. While it stands,
/// every protobuf arena of Harena that grows on this thread is charged to `budget`, and throws
/// BudgetExceeded when that or the process's budget refuses.
///
/// protobuf's block hook is a bare function: it can neither return failure nor know its arena. The
/// frame is what tells it that throwing is safe here and whom to charge. Without a frame arenas
/// grow in any case, so that no exception meets code that does not expect one; see
/// UnframedOverruns().
///
/// Thread rule: belongs to the thread that made it. Frames nest; the innermost counts.
/// Lifetime rule: ends before its budget; a scope on the stack, never on the heap.
class BudgetFrame {
 public:
  explicit BudgetFrame(Budget& budget) noexcept : budget_(&budget), outer_(current_) {
    current_ = this;
  }
  ~BudgetFrame() { current_ = outer_; }
  BudgetFrame(const BudgetFrame&) = delete;
  BudgetFrame& operator=(const BudgetFrame&) = delete;

  /// The budget of the calling thread's innermost frame, or nullptr.
  static Budget* Current() noexcept { return current_ == nullptr ? nullptr : current_->budget_; }

 private:
  static thread_local constinit inline BudgetFrame* current_ = nullptr;

  Budget* const budget_;
  BudgetFrame* const outer_;
};

}  // namespace harena::pb
