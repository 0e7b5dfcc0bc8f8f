#include "harena/mem/internal/retention.h"

namespace harena::mem_internal {
namespace {

constexpr uint64_t kLongMs = 1000;

bool IsWithin(const PageHeap& heap, const Budget& budget) noexcept {
  PagePoolStats stats;
  heap.AddTo(stats);
  const size_t bytes_max = budget.bytes_max();
  return stats.bytes_retained <= bytes_max &&
         budget.bytes_used() <= bytes_max - stats.bytes_retained;
}

}  // namespace

void KeepFreeWithinBudget(PageHeap& heap, const PagePoolOptions& options) noexcept {
  const Budget* const budget = options.budget;
  if (budget == nullptr || !budget->limited() || IsWithin(heap, *budget)) return;
  const uint64_t now_ms = options.now_ms();
  heap.Decay(now_ms > kLongMs ? now_ms - kLongMs : 0);
  if (!IsWithin(heap, *budget)) heap.Decay(UINT64_MAX);
}

}  // namespace harena::mem_internal
