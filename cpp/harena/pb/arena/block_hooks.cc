#include "harena/pb/arena/block_hooks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "harena/base/check.h"
#include "harena/base/compiler.h"
#include "harena/mem/budget.h"
#include "harena/pb/arena/budget_frame.h"

namespace harena::pb {
namespace {

std::atomic<uint64_t> unframed_overruns{0};
std::atomic<uint64_t> system_refusals{0};

// protobuf computes block sizes with unchecked arithmetic (its maintainers refuse checks on their
// fast path), so nonsense is stopped here, where a block is taken once per page.
constexpr size_t kBlockBytesMax = SIZE_MAX / 4;

void ChargeFrame(Budget& budget, size_t bytes, size_t slack_bytes) {
  Refusal refusal;
  if (!budget.TryCharge(bytes, slack_bytes, &refusal)) throw BudgetExceeded(refusal);
}

[[noreturn]] void ThrowSystemRefusal(const Refusal& refusal) {
  system_refusals.fetch_add(1, std::memory_order_relaxed);
  throw BudgetExceeded(refusal);
}

// Memory that no limit can refuse any more: it must be had or the process is out of memory.
void* AllocateUnframed(size_t bytes) {
  void* data = std::malloc(bytes);
  if (data == nullptr) throw BudgetExceeded({.bytes_wanted = bytes});
  ProcessBudget().ForceCharge(bytes);
  return data;
}

void FreeMalloced(void* data, size_t bytes) {
  std::free(data);
  ProcessBudget().Refund(bytes);
}

void* AllocatePages(PagePool& pool, size_t bytes, Budget* budget) {
  HARENA_CHECK(bytes != 0 && bytes <= kBlockBytesMax,
               "protobuf asked an arena block of an impossible size; its block size overflowed");
  // All of the block, although protobuf asks for less: an array of 2^k numbers and its header take
  // a block of twice that.
  const size_t block_bytes = pool.BlockBytes(bytes);
  if (budget != nullptr) ChargeFrame(*budget, block_bytes, pool.options().page_bytes);
  Refusal refusal;
  const Block block = pool.TryAllocate(bytes, &refusal);
  if (HARENA_LIKELY(block)) return block.data;
  if (budget != nullptr) {
    budget->Refund(block_bytes);
    ThrowSystemRefusal(refusal);
  }
  unframed_overruns.fetch_add(1, std::memory_order_relaxed);
  return AllocateUnframed(bytes);
}

// Whatever the limits say, but counted.
void* AllocateMallocedOverLimits(size_t bytes, Budget* budget) {
  void* data = AllocateUnframed(bytes);
  if (budget != nullptr) budget->ForceCharge(bytes);
  if (ProcessBudget().bytes_used() > ProcessBudget().bytes_max()) {
    unframed_overruns.fetch_add(1, std::memory_order_relaxed);
  }
  return data;
}

template <WhenRefused kRule>
void* AllocateMalloced(size_t bytes) {
  HARENA_CHECK(bytes != 0 && bytes <= kBlockBytesMax,
               "protobuf asked an arena block of an impossible size; its block size overflowed");
  Budget* const budget = BudgetFrame::Current();
  if (budget == nullptr || kRule == WhenRefused::kOverrun) {
    return AllocateMallocedOverLimits(bytes, budget);
  }
  // The same grace as for pages, so that a limit means the same in every mode.
  ChargeFrame(*budget, bytes, PagePool::Default().options().page_bytes);
  Refusal refusal;
  if (!ProcessBudget().TryCharge(bytes, 0, &refusal)) {
    budget->Refund(bytes);
    ThrowSystemRefusal(refusal);
  }
  void* data = std::malloc(bytes);
  if (data == nullptr) {
    budget->Refund(bytes);
    ProcessBudget().Refund(bytes);
    ThrowSystemRefusal({.bytes_wanted = bytes});
  }
  return data;
}

// One hook per pool and rule: the function's address is all the context that protobuf lets us
// carry. What is much smaller than a page is none of the arena's blocks, but newer protobuf's list
// of cleanups, which is not worth a page.
template <uint32_t kIndex, WhenRefused kRule>
void* AllocatePagesOf(size_t bytes) {
  PagePool& pool = PagePool::AtIndex(kIndex);
  if (HARENA_UNLIKELY(bytes < pool.options().page_bytes / 8)) return AllocateMalloced<kRule>(bytes);
  Budget* const budget = BudgetFrame::Current();
  if (kRule == WhenRefused::kThrow) return AllocatePages(pool, bytes, budget);
  if (budget != nullptr) budget->ForceCharge(pool.BlockBytes(bytes));
  return AllocatePages(pool, bytes, nullptr);
}

using BlockHook = void* (*)(size_t);

template <WhenRefused kRule>
constexpr auto kPageHooks = []<uint32_t... kIndex>(std::integer_sequence<uint32_t, kIndex...>) {
  return std::array<BlockHook, sizeof...(kIndex)>{&AllocatePagesOf<kIndex, kRule>...};
}
(std::make_integer_sequence<uint32_t, PagePool::kPoolsMax>());

// Whether it was a pool's.
bool TryFreePages(void* data, size_t bytes) {
  PagePool* const pool = PagePool::OwnerOf(data);
  if (HARENA_UNLIKELY(pool == nullptr)) {
    FreeMalloced(data, bytes);
    return false;
  }
  pool->Free(data, bytes);
  return true;
}

void FreePages(void* data, size_t bytes) { static_cast<void>(TryFreePages(data, bytes)); }

// Blocks between the moment in which protobuf gives them back and the one in which the pool gets
// them. protobuf frees blocks after the last destructor, so between the first block of an arena and
// GiveBackEnded() nothing can wait: no fiber leaves blocks behind on a thread, or takes over those
// of another one.
struct EndedBlock {
  EndedBlock* added_before;
  size_t bytes;
};
thread_local constinit EndedBlock* newest_ended = nullptr;

HARENA_NOINLINE uint64_t GiveBackEnded() noexcept {
  uint64_t blocks = 0;
  for (EndedBlock* block = std::exchange(newest_ended, nullptr); block != nullptr;) {
    const EndedBlock ended = *block;
    blocks += TryFreePages(block, ended.bytes);
    block = ended.added_before;
  }
  return blocks;
}

void AddEnded(void* data, size_t bytes) {
  // Those of an arena that was reset may still be there when the thread ends.
  struct ThreadEnd {
    ~ThreadEnd() { GiveBackEnded(); }
  };
  static thread_local const ThreadEnd thread_end;
  static_cast<void>(&thread_end);
  newest_ended = ::new (data) EndedBlock{newest_ended, bytes};
}

}  // namespace

HARENA_NOINLINE uint64_t EndArena(google::protobuf::Arena& arena, const ScopeEnd* end) noexcept {
  std::destroy_at(&arena);
  if (HARENA_LIKELY(end == nullptr)) return GiveBackEnded();
  const ScopeEndFrame frame(*end);
  return GiveBackEnded();
}

google::protobuf::ArenaOptions PageArenaOptions(PagePool& pool, WhenRefused when_refused) {
  google::protobuf::ArenaOptions options;
  options.start_block_size = pool.options().page_bytes;
  options.max_block_size = pool.options().page_bytes;
  options.block_alloc = when_refused == WhenRefused::kThrow
                            ? kPageHooks<WhenRefused::kThrow>[pool.index()]
                            : kPageHooks<WhenRefused::kOverrun>[pool.index()];
  options.block_dealloc = &FreePages;
  return options;
}

google::protobuf::ArenaOptions EndedArenaOptions(PagePool& pool, WhenRefused when_refused) {
  google::protobuf::ArenaOptions options = PageArenaOptions(pool, when_refused);
  options.block_dealloc = &AddEnded;
  return options;
}

google::protobuf::ArenaOptions MallocArenaOptions(WhenRefused when_refused) {
  google::protobuf::ArenaOptions options;
  options.block_alloc = when_refused == WhenRefused::kThrow
                            ? &AllocateMalloced<WhenRefused::kThrow>
                            : &AllocateMalloced<WhenRefused::kOverrun>;
  options.block_dealloc = &FreeMalloced;
  return options;
}

uint64_t SystemRefusals() noexcept { return system_refusals.load(std::memory_order_relaxed); }

uint64_t UnframedOverruns() noexcept { return unframed_overruns.load(std::memory_order_relaxed); }

}  // namespace harena::pb
