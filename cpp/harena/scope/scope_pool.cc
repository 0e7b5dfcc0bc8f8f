#include "harena/scope/scope_pool.h"

#include <algorithm>

#include "harena/base/check.h"
#include "harena/guard/quarantine.h"
#include "harena/scope/internal/pool_state.h"

namespace harena {

using scope_internal::PoolState;
using scope_internal::ScopeCore;
using scope_internal::ThreadCounts;

ScopePool::ScopePool(const Options& options, MessagesMayThrow may_throw, std::string_view name) {
  if (const auto problem = options.Validate()) {
    FailCheck("ScopePool", 0, "Options::Validate", problem->c_str());
  }
  state_.reset(new PoolState(options, name));
  state_->messages_may_throw = may_throw == MessagesMayThrow::kYes;
}

std::optional<Scope> ScopePool::TryAcquire(Refusal* refusal) noexcept {
  const Mode mode = state_->options.Get(&Options::mode);
  const ScopeOptions options = {
      .request_bytes_max = state_->options.Get(&Options::request_bytes_max),
      // Kept messages have blocks of their own: a large first block would only be charged.
      .first_block_bytes = mode == Mode::kReuse
                               ? state_->options.Get(&Options::first_block_bytes)
                               : state_->first_block_bytes.load(std::memory_order_relaxed),
      .page_pool = &state_->options.pool(),
      .mode = mode,
      .messages_may_throw = state_->messages_may_throw,
      .decode_limits = state_->options.decode_limits(),
  };
  const uint32_t slot = ThreadSlot();
  ThreadCounts& of_thread = state_->counts.OfThread(slot);
  const uint64_t number = of_thread.made.load(std::memory_order_relaxed) + 1;
  ScopeCore* core = nullptr;
  if (HARENA_UNLIKELY(state_->counts.IsSampled(of_thread, number))) core = TryMakeSampled(options);
  if (HARENA_LIKELY(core == nullptr)) core = scope_internal::TryMakeCore(options, refusal);
  if (HARENA_UNLIKELY(core == nullptr) && !options.messages_may_throw) {
    core = scope_internal::MakeCoreBeyondLimits(options);
  }
  if (core == nullptr) {
    state_->refused.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  // Before anybody else can end it: no snapshot has more ended than made.
  of_thread.Add(of_thread.made, 1);
  core->made_by = slot;
  core->timed = state_->counts.IsTimed(of_thread, number);
  core->pool_state = state_.get();
  return Scope(core);
}

// Null where there is no memory for that: the scope is then made like any other.
HARENA_NOINLINE ScopeCore* ScopePool::TryMakeSampled(ScopeOptions options) noexcept {
  options.page_pool = guard::QuarantineOf(*options.page_pool);
  if (options.page_pool == nullptr) return nullptr;
  options.sampled_number = state_->counts.Sum(&ThreadCounts::made) + 1;
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
  const bool resized =
      changed.first_block_bytes != state_->options.Get(&Options::first_block_bytes);
  state_->options.Store(changed);
  if (resized) {
    state_->first_block_bytes.store(changed.first_block_bytes != 0
                                        ? changed.first_block_bytes
                                        : state_->LearnedFirstBlockBytes(),
                                    std::memory_order_relaxed);
  }
  return std::nullopt;
}

std::optional<std::string> ScopePool::WhyNot(const Options& changed) const {
  const Options now = options();
  const char* fixed = nullptr;
  if (changed.page_pool != now.page_pool) fixed = "page_pool";
  if (changed.quarantine_one_in != now.quarantine_one_in) fixed = "quarantine_one_in";
  if (changed.reuse_instances_max != now.reuse_instances_max) fixed = "reuse_instances_max";
  if (changed.reuse_bytes_max != now.reuse_bytes_max) fixed = "reuse_bytes_max";
  if (changed.reuse_growth_max != now.reuse_growth_max) fixed = "reuse_growth_max";
  if (fixed == nullptr) return changed.Validate();
  return std::string(fixed) + " cannot be changed while the server runs; set it where it is made";
}

std::optional<std::string> ScopePool::SetMode(Mode mode) {
  return Change([=](Options& options) { options.mode = mode; });
}

std::optional<std::string> ScopePool::SetRequestBytesMax(size_t bytes) {
  return Change([=](Options& options) { options.request_bytes_max = bytes; });
}

void ScopePool::CountRequest() noexcept {
  ThreadCounts& of_thread = state_->counts.OfThread();
  of_thread.Add(of_thread.requests, 1);
}

uint64_t ScopePool::requests() const noexcept {
  return state_->counts.Sum(&ThreadCounts::requests);
}

Mode ScopePool::mode() const noexcept { return state_->options.Get(&Options::mode); }

Options ScopePool::options() const noexcept { return state_->options.Load(); }

Profile& ScopePool::profile() noexcept { return state_->profile; }

ScopePoolStats ScopePool::stats() const noexcept {
  ScopePoolStats stats;
  const scope_internal::ScopeCounts& counts = state_->counts;
  // Ended before made, so that a scope between the two never counts below zero.
  counts.ForEach([&](const ThreadCounts& of_thread) {
    for (size_t i = 0; i < stats.bytes.counts.size(); ++i) {
      const uint64_t ended = of_thread.ended[i].load(std::memory_order_acquire);
      stats.bytes.counts[i] += ended;
      stats.scopes_ended += ended;
    }
    for (size_t i = 0; i < stats.blocks.counts.size(); ++i) {
      stats.blocks.counts[i] += of_thread.released[i].load(std::memory_order_relaxed);
    }
    stats.bytes_max = std::max<uint64_t>(stats.bytes_max, of_thread.bytes_max.load());
  });
  stats.scopes_made = counts.Sum(&ThreadCounts::made);
  stats.scopes_detached = state_->detached.load(std::memory_order_relaxed);
  const auto detached_live = state_->detached_live.Look();
  stats.scopes_detached_live = detached_live.count;
  stats.oldest_detached_ms = detached_live.oldest_ms;
  stats.scopes_refused = state_->refused.load(std::memory_order_relaxed);
  stats.scopes_sampled = state_->sampled.load(std::memory_order_relaxed);
  stats.scopes_moved = counts.Sum(&ThreadCounts::moved);
  stats.bytes_sum = counts.Sum(&ThreadCounts::bytes_sum);
  stats.block_bytes_sum = counts.Sum(&ThreadCounts::block_bytes_sum);
  stats.blocks_sum = counts.Sum(&ThreadCounts::blocks_sum);
  stats.outside_bytes_sum = counts.Sum(&ThreadCounts::outside_bytes_sum);
  stats.wire_bytes_sum = counts.Sum(&ThreadCounts::wire_bytes_sum);
  stats.overflows = counts.Sum(&ThreadCounts::overflows);
  stats.parse_times = state_->parse_times.histogram();
  stats.parse_nanos_sum = state_->parse_times.nanos();
  stats.serialize_times = state_->serialize_times.histogram();
  stats.serialize_nanos_sum = state_->serialize_times.nanos();
  stats.bytes_p50 = state_->profile.Percentile(50);
  stats.bytes_p90 = state_->profile.Percentile(90);
  stats.bytes_p99 = state_->profile.Percentile(99);
  const size_t page_bytes = state_->options.pool().options().page_bytes;
  stats.first_block_bytes =
      std::max(state_->first_block_bytes.load(std::memory_order_relaxed), page_bytes);
  return stats;
}

}  // namespace harena
