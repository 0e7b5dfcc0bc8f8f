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
/// REQUIRES: on fibers (bthreads, tRPC's fibers), nothing inside of it waits. Others would run on
/// the thread meanwhile, be charged to `budget` and meet its exceptions. What may wait there takes
/// the adapter's WithinBudget(). A frame that ends on another thread than it began on stops the
/// process.
/// Thread rule: belongs to the thread that made it. Frames nest; the innermost counts.
/// Lifetime rule: ends before its budget; a scope on the stack, never on the heap.
class BudgetFrame {
 public:
  explicit BudgetFrame(Budget& budget) noexcept;
  ~BudgetFrame();
  BudgetFrame(const BudgetFrame&) = delete;
  BudgetFrame& operator=(const BudgetFrame&) = delete;

  /// The budget of the calling thread's innermost frame; without one, what a FiberBudget says of
  /// the fiber that runs there. Else nullptr.
  static Budget* Current() noexcept;

 private:
  Budget* const budget_;
  BudgetFrame* const outer_;
};

/// The budget that what the calling fiber does is held to, or nullptr: then, and where the caller
/// is no fiber. For adapters whose frameworks run handlers on fibers and keep variables for each.
/// Somebody on the fiber catches BudgetExceeded while it is not null.
using FiberBudget = Budget* (*)() noexcept;

/// Asks `of_fiber` too from now on, for as long as the process runs. REQUIRES: not more than
/// kFiberBudgetsMax of them, one for each framework (checked). Thread rule: any thread.
void AddFiberBudget(FiberBudget of_fiber) noexcept;
inline constexpr int kFiberBudgetsMax = 4;

}  // namespace harena::pb
