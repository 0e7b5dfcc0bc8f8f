#include "harena/adapters/trpc/within_budget.h"

#include <utility>

#include <trpc/coroutine/fiber.h>
#include <trpc/coroutine/fiber_local.h>

#include "harena/base/compiler.h"
#include "harena/pb/arena/budget_frame.h"

namespace harena::trpc {
namespace {

// REQUIRES: a fiber runs here. Out of line: compilers ask which one it is once per function.
HARENA_NOINLINE Budget*& OfFiber() {
  static const ::trpc::FiberLocal<Budget*> of_fiber;
  return *of_fiber;
}

Budget* OfFiberIfAny() noexcept { return ::trpc::IsRunningInFiberWorker() ? OfFiber() : nullptr; }

Budget* Exchange(Budget* budget) {
  // Not before somebody needs it: from then on every arena that grows asks.
  static const bool begun = (pb::AddFiberBudget(&OfFiberIfAny), true);
  static_cast<void>(begun);
  return std::exchange(OfFiber(), budget);
}

}  // namespace

FiberFrame::FiberFrame(Budget& budget) : in_fiber_(::trpc::IsRunningInFiberWorker()) {
  if (in_fiber_) {
    outer_ = Exchange(&budget);
  } else {
    of_thread_.emplace(budget);
  }
}

FiberFrame::~FiberFrame() {
  if (in_fiber_) Exchange(outer_);
}

}  // namespace harena::trpc
