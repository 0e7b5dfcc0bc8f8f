// How much free memory a pool may keep beside what its budget counts.
#pragma once

#include "harena/mem/internal/page_heap.h"
#include "harena/mem/page_pool_options.h"

namespace harena::mem_internal {

/// What lies free in the central list is resident and charged to nobody. It may not come on top of
/// all that the budget allows, or a system with little more memory than that kills the process: so
/// after memory was taken that was not resident before, what has been free for long goes back, and
/// if that is not enough, all of it. Nothing where the budget has no limit. Thread rule: any
/// thread.
void KeepFreeWithinBudget(PageHeap& heap, const PagePoolOptions& options) noexcept;

}  // namespace harena::mem_internal
