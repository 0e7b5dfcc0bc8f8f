#include "harena/pb/arena/budget_frame.h"

#include <array>
#include <atomic>
#include <utility>

#include "harena/base/check.h"

// All that touches the thread's variable is out of line: a compiler may take its address once in a
// function, and after a wait it is another thread's.
namespace harena::pb {
namespace {

thread_local constinit BudgetFrame* innermost = nullptr;

constinit std::array<std::atomic<FiberBudget>, kFiberBudgetsMax> fiber_budgets{};

}  // namespace

BudgetFrame::BudgetFrame(Budget& budget) noexcept
    : budget_(&budget), outer_(std::exchange(innermost, this)) {}

BudgetFrame::~BudgetFrame() {
  HARENA_CHECK(innermost == this,
               "a harena::pb::BudgetFrame ended on another thread than it began on, or before one "
               "inside of it: a fiber waited in it; use WithinBudget() of the framework's adapter");
  innermost = outer_;
}

Budget* BudgetFrame::Current() noexcept {
  if (innermost != nullptr) return innermost->budget_;
  for (const auto& entry : fiber_budgets) {
    const FiberBudget of_fiber = entry.load(std::memory_order_acquire);
    if (of_fiber == nullptr) break;
    if (Budget* const budget = of_fiber()) return budget;
  }
  return nullptr;
}

void AddFiberBudget(FiberBudget of_fiber) noexcept {
  for (auto& entry : fiber_budgets) {
    FiberBudget none = nullptr;
    if (entry.compare_exchange_strong(none, of_fiber, std::memory_order_acq_rel)) return;
  }
  FailCheck("harena::pb::AddFiberBudget", 0, "kFiberBudgetsMax",
            "more frameworks with fibers than there is room for: raise kFiberBudgetsMax");
}

}  // namespace harena::pb
