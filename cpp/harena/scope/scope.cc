#include "harena/scope/scope.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

#include "harena/base/check.h"
#include "harena/base/compiler.h"
#include "harena/guard/quarantine.h"
#include "harena/scope/internal/pool_state.h"

namespace harena {
namespace scope_internal {

size_t ScopeCore::bytes_used() const noexcept {
  auto bytes = static_cast<ptrdiff_t>(arena.bytes_used());
  for (const Companion* entry = companions; entry != nullptr; entry = entry->next) {
    bytes += entry->object->bytes_used_beyond_arena();
  }
  return static_cast<size_t>(std::max<ptrdiff_t>(bytes, 0));
}

size_t ScopeCore::bytes_in_blocks() const noexcept {
  size_t bytes = arena.stats().bytes_in_blocks;
  for (const Companion* entry = companions; entry != nullptr; entry = entry->next) {
    bytes += entry->object->bytes_in_blocks_beyond_arena();
  }
  return bytes;
}

namespace {

// With the scope's own head, which takes its part of the first block too.
ScopeUse UseOf(const ScopeCore& core) noexcept {
  const size_t bytes_in_blocks = core.bytes_in_blocks();
  return {
      .bytes_used = sizeof(ScopeCore) + core.bytes_used(),
      .bytes_in_blocks = bytes_in_blocks,
      .outside_bytes = core.outside.bytes(),
      .wire_bytes = core.wire_bytes,
      .beyond_first_block = bytes_in_blocks > core.first_block.bytes,
      .moved = core.made_by != ThreadSlot(),
  };
}

}  // namespace

// Destroys what lives on the scope. Users' destructors may wait: when they return, this may be
// another thread, and whatever was asked of the one before is void.
void ScopeCore::EndObjects() noexcept {
  if (outside.bytes() != 0) ProcessBudget().Refund(outside.bytes());
  arena.RunCleanups();
}

HARENA_NOINLINE void ScopeCore::EndSampled(bool moved) noexcept {
  ScopeEnd end;
  end.Note(pool_state->name, sampled_number);
  ending.end = &end;
  EndObjects();
  const ScopeEndFrame frame(end);
  GiveBack(this, moved);
}

// Gives back all memory, which does not wait, and counts it. `moved`: it was made on another
// thread. Out of line, so that no compiler takes a thread's variables from before EndObjects().
HARENA_NOINLINE void ScopeCore::GiveBack(ScopeCore* core, bool moved) noexcept {
  PagePool& pool = *core->arena.options().pool;
  PoolState* const state = core->pool_state;
  const Block first = core->first_block;
  const bool beyond_limits = core->beyond_limits;
  uint64_t blocks = core->arena.stats().blocks + core->ending.blocks;
  if (HARENA_UNLIKELY(beyond_limits)) --blocks;  // the first is not the pool's
  core->~ScopeCore();
  // While a block is still out: the pool may be destroyed once it has all of them.
  if (HARENA_UNLIKELY(moved)) pool.CountMoved(blocks);
  if (HARENA_LIKELY(!beyond_limits)) {
    pool.Free(first.data, first.bytes);
  } else {
    std::free(first.data);
    ProcessBudget().Refund(first.bytes);
  }
  if (state != nullptr) PoolState::RecordRelease(state->counts.OfThread(), blocks);
}

HARENA_NOINLINE void ScopeCore::RecordTimes() const noexcept {
  if (const uint64_t nanos = parse_nanos.load(std::memory_order_relaxed)) {
    pool_state->parse_times.Add(nanos);
  }
  if (const uint64_t nanos = serialize_nanos.load(std::memory_order_relaxed)) {
    pool_state->serialize_times.Add(nanos);
  }
}

void ScopeCore::Release(ScopeCore* core) noexcept {
  // Alone: nobody else can become an owner, so the locked instruction can be saved.
  if (core->owners.load(std::memory_order_acquire) != 1) {
    const uint32_t before = core->owners.fetch_sub(1, std::memory_order_acq_rel);
    // Memory that was wiped, or was nobody's before. Best effort: it may be another scope's by now.
    HARENA_CHECK(before != 0,
                 "a scope was released after its end; a handle of it was used twice, or copied as "
                 "bytes");
    if (before != 1) return;
  }
  PoolState* const state = core->pool_state;
  if (state == nullptr) {
    core->EndObjects();
    GiveBack(core, /*moved=*/false);
    return;
  }
  if (HARENA_UNLIKELY(core->detached)) state->detached_live.Remove(core->detached_link);
  if (HARENA_UNLIKELY(core->timed)) core->RecordTimes();
  const ScopeUse use = UseOf(*core);
  state->RecordEnd(use, state->counts.OfThread());
  if (HARENA_UNLIKELY(core->sampled_number != 0)) return core->EndSampled(use.moved);
  core->EndObjects();
  GiveBack(core, use.moved);
}

size_t FirstBlockBytes(const PagePool& pool, size_t wanted_bytes, size_t bytes_max) noexcept {
  const size_t page_bytes = pool.options().page_bytes;
  const size_t block_bytes = pool.BlockBytes(std::max(wanted_bytes, page_bytes));
  return block_bytes <= bytes_max ? block_bytes : std::max(std::bit_floor(bytes_max), page_bytes);
}

ScopeCore* TryMakeCore(const ScopeOptions& options, Refusal* refusal) noexcept {
  PagePool& pool = options.page_pool != nullptr ? *options.page_pool : PagePool::Default();
  // One page is always granted: the limit may be overstepped by that much.
  const size_t least_bytes = pool.options().page_bytes;
  const size_t first_bytes =
      FirstBlockBytes(pool, options.first_block_bytes, options.request_bytes_max);
  Block first = pool.TryAllocate(first_bytes, refusal);
  if (!first && first_bytes > least_bytes) first = pool.TryAllocate(least_bytes, refusal);
  if (!first) return nullptr;
  return ::new (first.data) ScopeCore(options, pool, first);
}

HARENA_NOINLINE ScopeCore* MakeCoreBeyondLimits(ScopeOptions options) noexcept {
  // As much as the usual page: what a framework puts there besides the messages has room.
  constexpr size_t kBytesMin = size_t{64} << 10;
  PagePool& pool = options.page_pool != nullptr ? *options.page_pool : PagePool::Default();
  const Block first{nullptr, std::max(pool.options().page_bytes, kBytesMin)};
  void* const data = std::malloc(first.bytes);
  if (data == nullptr) return nullptr;
  ProcessBudget().ForceCharge(first.bytes);
  // Strings as bytes of the scope are known by the pool that they are on.
  if (options.mode == Mode::kCodec) options.mode = Mode::kPages;
  auto* const core = ::new (data) ScopeCore(options, pool, {data, first.bytes});
  core->beyond_limits = true;
  return core;
}

}  // namespace scope_internal

using scope_internal::ScopeCore;

namespace {

ScopeCore* MakeCore(const ScopeOptions& options) {
  Refusal refusal;
  ScopeCore* const core = scope_internal::TryMakeCore(options, &refusal);
  if (core == nullptr) throw BudgetExceeded(refusal);
  return core;
}

}  // namespace

Scope::Scope(const ScopeOptions& options) : core_(MakeCore(options)) {}

std::optional<Scope> Scope::TryMake(const ScopeOptions& options, Refusal* refusal) noexcept {
  ScopeCore* core = scope_internal::TryMakeCore(options, refusal);
  if (core == nullptr) return std::nullopt;
  return Scope(core);
}

DetachedScope Scope::Detach() noexcept {
  core_->owners.fetch_add(1, std::memory_order_relaxed);
  if (!std::exchange(core_->detached, true) && core_->pool_state != nullptr) {
    core_->pool_state->detached.fetch_add(1, std::memory_order_relaxed);
    core_->pool_state->detached_live.Add(core_->detached_link);
  }
  return DetachedScope(core_.get());
}

}  // namespace harena
