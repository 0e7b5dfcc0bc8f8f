#include "harena/adapters/brpc/within_budget.h"

#include <bthread/bthread.h>

#include "harena/base/check.h"
#include "harena/pb/arena/budget_frame.h"

namespace harena::brpc {
namespace {

bthread_key_t key;

Budget* OfBthread() noexcept { return static_cast<Budget*>(bthread_getspecific(key)); }

Budget* Outer() {
  // Not before somebody needs it: from then on every arena that grows asks.
  static const bool begun = [] {
    HARENA_CHECK(bthread_key_create(&key, nullptr) == 0,
                 "brpc has no bthread_key_t left: create less of them");
    pb::AddFiberBudget(&OfBthread);
    return true;
  }();
  static_cast<void>(begun);
  return OfBthread();
}

}  // namespace

BthreadFrame::BthreadFrame(Budget& budget) : outer_(Outer()) {
  if (bthread_setspecific(key, &budget) != 0) throw BudgetExceeded({});
}

// brpc gives a bthread's variables to the next one as they are.
BthreadFrame::~BthreadFrame() { bthread_setspecific(key, outer_); }

}  // namespace harena::brpc
