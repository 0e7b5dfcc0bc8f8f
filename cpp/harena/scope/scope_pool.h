#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harena/scope/histogram.h"
#include "harena/scope/options.h"
#include "harena/scope/profile.h"
#include "harena/scope/scope.h"

namespace harena {

namespace scope_internal {
/// Ends the state now, or once its last scope is released. Thread rule: any thread.
struct LeavePoolState {
  void operator()(PoolState* state) const noexcept;
};
}  // namespace scope_internal

/// What the scopes of one method did. Counts since the start. No snapshot has more scopes ended
/// than made (cpp/tests/models/scope_counts.pml).
struct ScopePoolStats {
  uint64_t scopes_made = 0;
  uint64_t scopes_ended = 0;
  uint64_t scopes_detached = 0;       ///< Of those made, handed on by Detach().
  uint64_t scopes_detached_live = 0;  ///< Of those detached, how many have not ended.
  uint64_t oldest_detached_ms = 0;    ///< How long ago the oldest of these was detached.
  uint64_t scopes_refused = 0;        ///< Not made: no memory for the first block.
  uint64_t scopes_sampled = 0;        ///< Of those made, whose memory goes into quarantine.
  BytesHistogram bytes;               ///< The ended ones, by the bytes that they used.
  uint64_t bytes_sum = 0;             ///< What they used together.
  uint64_t bytes_max = 0;             ///< The most that one of them used.
  uint64_t block_bytes_sum = 0;       ///< Bytes of the blocks that they took for it.
  /// The ended ones, by the blocks of page pools that they took. A scope that is just ending may be
  /// among the ended ones already and not yet here.
  BlocksHistogram blocks;
  uint64_t blocks_sum = 0;  ///< What they took together, without what a parse holds while it runs.
  uint64_t overflows = 0;   ///< Of the ended ones, that needed more than the first block.
  /// What their budgets counted beside blocks: string buffers that protobuf keeps on the heap,
  /// which are as many bytes as the request has where nobody counts them one by one.
  uint64_t outside_bytes_sum = 0;
  uint64_t wire_bytes_sum = 0;  ///< Of the ended ones, their requests as they came, where known.
  uint64_t scopes_moved = 0;    ///< Of the ended ones, that ended on another thread.
  /// Of the scopes that are timed, one in 64 at random: how long their requests were parsed, and
  /// their responses written by the codec; where that was done.
  DurationHistogram parse_times;
  uint64_t parse_nanos_sum = 0;
  DurationHistogram serialize_times;
  uint64_t serialize_nanos_sum = 0;
  uint64_t bytes_p50 = 0;  ///< Of the recent requests, by the method's profile.
  uint64_t bytes_p90 = 0;
  uint64_t bytes_p99 = 0;
  size_t first_block_bytes = 0;  ///< What the next scope starts with.

  /// False when nobody said how many bytes the requests had.
  bool wire_bytes_known() const noexcept { return wire_bytes_sum != 0 || scopes_ended == 0; }

  /// Scopes alive now, detached ones included.
  uint64_t scopes_live() const noexcept { return scopes_made - scopes_ended; }
};

/// Whether messages on the scopes may answer a refusal by an exception: not where a framework fills
/// them in frames of its own. See ScopeOptions::messages_may_throw. With kNo no limit refuses the
/// scope itself either; where one would have, it is served as mode `pages` instead of `codec`.
enum class MessagesMayThrow { kYes, kNo };

/// Makes the scopes of one method and learns from them how large the next should start.
///
/// Thread rule: any thread.
/// Lifetime rule: scopes and detached scopes may outlive it; the page pool of its options may not
///   be destroyed before them.
class ScopePool {
 public:
  /// REQUIRES: `options.Validate()` finds nothing (checked).
  /// `name` is what reports call it: the method's.
  explicit ScopePool(const Options& options = {},
                     MessagesMayThrow may_throw = MessagesMayThrow::kYes,
                     std::string_view name = {});
  ScopePool(const ScopePool&) = delete;
  ScopePool& operator=(const ScopePool&) = delete;

  /// A scope for one request. Throws BudgetExceeded when there is no memory for its first block:
  /// with MessagesMayThrow::kNo that is when the system has none, as no limit refuses it then.
  Scope Acquire();
  /// The same without the exception; `*refusal` says why there is none.
  std::optional<Scope> TryAcquire(Refusal* refusal = nullptr) noexcept;

  /// Counts a request for which a scope is about to be acquired; for adapters, to report it even
  /// where the scope is refused. As cheap as what a scope counts.
  void CountRequest() noexcept;
  uint64_t requests() const noexcept;

  /// Changes options for scopes acquired from now on. The answer says what is wrong with them
  /// together; then nothing has changed. `page_pool`, `quarantine_one_in` and what concerns mode
  /// `reuse` stay as they were when the pool was made.
  std::optional<std::string> Change(const std::function<void(Options&)>& edit);
  /// What Change() would answer to this outcome of an edit.
  std::optional<std::string> WhyNot(const Options& changed) const;
  std::optional<std::string> SetMode(Mode mode);
  std::optional<std::string> SetRequestBytesMax(size_t bytes);
  Mode mode() const noexcept;

  Options options() const noexcept;
  Profile& profile() noexcept;
  ScopePoolStats stats() const noexcept;

 private:
  scope_internal::ScopeCore* TryMakeSampled(ScopeOptions options) noexcept;

  std::unique_ptr<scope_internal::PoolState, scope_internal::LeavePoolState> state_;
};

}  // namespace harena
