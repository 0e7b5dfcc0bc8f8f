#include "harena/scope/scope_pool.h"

#include <algorithm>

#include "harena/base/check.h"
#include "harena/base/clock.h"
#include "harena/scope/internal/pool_state.h"

namespace harena {

using scope_internal::PoolState;
using scope_internal::ScopeCore;

namespace {

// The learned size of a first block: what the percentile asks for.
size_t LearnedFirstBlockBytes(const PoolState& state) noexcept {
  const Options options = state.options.Load();
  // A quarter of the limit at most: a block is charged whole, and requests that ran into the limit
  // must not teach the next ones to start with all of it.
  const size_t part_of_limit_bytes = options.request_bytes_max / 4;
  return scope_internal::FirstBlockBytes(
      options.pool(), state.profile.Percentile(options.first_block_percentile),
      std::min(options.first_block_bytes_max, part_of_limit_bytes));
}

}  // namespace

void PoolState::RecordEnd(const ScopeUse& use) noexcept {
  const uint64_t count = profile.Record(use.bytes_used);
  bytes_sum.fetch_add(use.bytes_used, std::memory_order_relaxed);
  block_bytes_sum.fetch_add(use.bytes_in_blocks, std::memory_order_relaxed);
  if (use.bytes_used > bytes_max.load(std::memory_order_relaxed)) RecordMax(use.bytes_used);
  if (use.beyond_first_block) overflows.fetch_add(1, std::memory_order_relaxed);
  if (use.outside_bytes != 0) {
    outside_bytes_sum.fetch_add(use.outside_bytes, std::memory_order_relaxed);
  }
  // Release: who sees a scope ended also sees it made, and what it used.
  ended[BytesHistogram::BucketOf(use.bytes_used)].fetch_add(1, std::memory_order_release);
  if (options.first_block_bytes() == 0 && (count % kScopesPerSizing == 0 || count <= 4)) {
    first_block_bytes.store(LearnedFirstBlockBytes(*this), std::memory_order_relaxed);
  }
}

HARENA_NOINLINE void PoolState::RecordMax(size_t bytes_used) noexcept {
  uint64_t before = bytes_max.load(std::memory_order_relaxed);
  while (bytes_used > before &&
         !bytes_max.compare_exchange_weak(before, bytes_used, std::memory_order_relaxed)) {
  }
}

bool PoolState::ClaimSample(uint64_t number) noexcept {
  uint64_t due = next_sampled.load(std::memory_order_relaxed);
  if (number < due) return false;
  // At random, so that traffic with a rhythm of its own is sampled as well as any other; one in N
  // on average.
  uint64_t random =
      number * 0x9e3779b97f4a7c15 ^ reinterpret_cast<uintptr_t>(this) ^ CoarseMillis();
  random = (random ^ (random >> 31)) * 0xbf58476d1ce4e5b9;
  const uint64_t step = 1 + (random >> 16) % (2 * options.quarantine_one_in() - 1);
  return next_sampled.compare_exchange_strong(due, number + step, std::memory_order_relaxed);
}

ScopePool::ScopePool(const Options& options, MessagesMayThrow may_throw, std::string_view name) {
  if (const auto problem = options.Validate()) {
    FailCheck("ScopePool", 0, "Options::Validate", problem->c_str());
  }
  state_ = std::make_shared<PoolState>(options, name);
  state_->messages_may_throw = may_throw == MessagesMayThrow::kYes;
}

ScopePool::~ScopePool() = default;

std::optional<Scope> ScopePool::TryAcquire(Refusal* refusal) noexcept {
  const Mode mode = state_->options.mode();
  const ScopeOptions options = {
      .request_bytes_max = state_->options.request_bytes_max(),
      // Kept messages have blocks of their own: a large first block would only be charged.
      .first_block_bytes = mode == Mode::kReuse
                               ? state_->options.first_block_bytes()
                               : state_->first_block_bytes.load(std::memory_order_relaxed),
      .page_pool = &state_->options.pool(),
      .mode = mode,
      .messages_may_throw = state_->messages_may_throw,
      .decode_limits = state_->options.decode_limits(),
  };
  const uint64_t number = state_->made.fetch_add(1, std::memory_order_relaxed) + 1;
  ScopeCore* core = nullptr;
  if (HARENA_UNLIKELY(state_->IsSampled(number))) core = TryMakeSampled(options, number);
  if (HARENA_LIKELY(core == nullptr)) core = scope_internal::TryMakeCore(options, refusal);
  if (core == nullptr) {
    state_->made.fetch_sub(1, std::memory_order_relaxed);
    state_->refused.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  core->pool_state = state_;
  return Scope(core);
}

// Null where there is no memory for that: the scope is then made like any other.
HARENA_NOINLINE ScopeCore* ScopePool::TryMakeSampled(ScopeOptions options,
                                                     uint64_t number) noexcept {
  options.page_pool = options.page_pool->Quarantine();
  if (options.page_pool == nullptr) return nullptr;
  options.sampled_number = number;
  Refusal ignored;
  ScopeCore* const core = scope_internal::TryMakeCore(options, &ignored);
  if (core != nullptr) state_->sampled.fetch_add(1, std::memory_order_relaxed);
  return core;
}

Scope ScopePool::Acquire() {
  Refusal refusal;
  std::optional<Scope> scope = TryAcquire(&refusal);
  if (!scope) throw BudgetExceeded(refusal);
  return std::move(*scope);
}

std::optional<std::string> ScopePool::Change(const std::function<void(Options&)>& edit) {
  std::lock_guard lock(state_->change);
  Options changed = options();
  edit(changed);
  if (auto problem = WhyNot(changed)) return problem;
  const bool resized = changed.first_block_bytes != state_->options.first_block_bytes();
  state_->options.Store(changed);
  if (resized) {
    state_->first_block_bytes.store(changed.first_block_bytes != 0
                                        ? changed.first_block_bytes
                                        : LearnedFirstBlockBytes(*state_),
                                    std::memory_order_relaxed);
  }
  return std::nullopt;
}

std::optional<std::string> ScopePool::WhyNot(const Options& changed) const {
  if (auto problem = state_->options.WhyFixed(changed)) return problem;
  return changed.Validate();
}

std::optional<std::string> ScopePool::SetMode(Mode mode) {
  return Change([=](Options& options) { options.mode = mode; });
}

std::optional<std::string> ScopePool::SetRequestBytesMax(size_t bytes) {
  return Change([=](Options& options) { options.request_bytes_max = bytes; });
}

Mode ScopePool::mode() const noexcept { return state_->options.mode(); }

Options ScopePool::options() const noexcept { return state_->options.Load(); }

Profile& ScopePool::profile() noexcept { return state_->profile; }

ScopePoolStats ScopePool::stats() const noexcept {
  ScopePoolStats stats;
  // Ended before made, so that a scope between the two never counts below zero.
  for (size_t i = 0; i < stats.bytes.counts.size(); ++i) {
    stats.bytes.counts[i] = state_->ended[i].load(std::memory_order_acquire);
    stats.scopes_ended += stats.bytes.counts[i];
  }
  stats.scopes_made = state_->made.load(std::memory_order_acquire);
  stats.scopes_detached = state_->detached.load(std::memory_order_relaxed);
  const auto detached_live = state_->detached_live.Look();
  stats.scopes_detached_live = detached_live.count;
  stats.oldest_detached_ms = detached_live.oldest_ms;
  stats.scopes_refused = state_->refused.load(std::memory_order_relaxed);
  stats.scopes_sampled = state_->sampled.load(std::memory_order_relaxed);
  stats.bytes_sum = state_->bytes_sum.load(std::memory_order_relaxed);
  stats.bytes_max = state_->bytes_max.load(std::memory_order_relaxed);
  stats.block_bytes_sum = state_->block_bytes_sum.load(std::memory_order_relaxed);
  stats.outside_bytes_sum = state_->outside_bytes_sum.load(std::memory_order_relaxed);
  stats.overflows = state_->overflows.load(std::memory_order_relaxed);
  stats.bytes_p50 = state_->profile.Percentile(50);
  stats.bytes_p90 = state_->profile.Percentile(90);
  stats.bytes_p99 = state_->profile.Percentile(99);
  const size_t page_bytes = state_->options.pool().options().page_bytes;
  stats.first_block_bytes =
      std::max(state_->first_block_bytes.load(std::memory_order_relaxed), page_bytes);
  return stats;
}

}  // namespace harena
