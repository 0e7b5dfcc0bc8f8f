// One request's memory: an arena, a budget, and whatever must stay alive as long.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <utility>

#include "harena/base/clock.h"
#include "harena/base/compiler.h"
#include "harena/base/thread_slot.h"
#include "harena/mem/arena.h"
#include "harena/mem/arena_resource.h"
#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"
#include "harena/scope/decode_limits.h"
#include "harena/scope/internal/detached_list.h"
#include "harena/scope/mode.h"
#include "harena/scope/outside_charge.h"

namespace harena {

struct ScopeEnd;
class DetachedScope;
class Scope;
class ScopePool;

namespace scope_internal {
struct PoolState;
struct ScopeCore;
}  // namespace scope_internal

/// How CreateMessage() makes a T. Specialised by the layer that knows the message library.
template <typename T>
struct MessageTraits {
  static_assert(
      sizeof(T) == 0,
      "CreateMessage<T> needs to know T: include \"harena/pb/arena/message.h\" for protobuf");
};

/// What a scope that is ending tells what lives on it, and is told. Nothing of it is kept by
/// thread: a fiber may wait in any destructor, and go on on another thread.
struct ScopeEnding {
  const ScopeEnd* end = nullptr;  ///< What to note with blocks of a quarantine; else null.
  uint64_t blocks = 0;            ///< Given back to page pools by what lived on the scope.
};

/// Something another layer adds to a scope once, found again by its type (protobuf's arena).
/// Lives on the scope's arena and is destroyed with it.
class ScopeCompanion {
 public:
  ScopeCompanion() = default;
  ScopeCompanion(const ScopeCompanion&) = delete;
  ScopeCompanion& operator=(const ScopeCompanion&) = delete;
  /// Bytes it uses beyond what the scope's arena counts already; may be below zero when it uses
  /// less than it took.
  virtual ptrdiff_t bytes_used_beyond_arena() const noexcept = 0;
  /// Bytes of the blocks that it took by itself, for the same memory. Who took some from a page
  /// pool counts them in Scope::ending() when they go back.
  virtual size_t bytes_in_blocks_beyond_arena() const noexcept { return 0; }

 protected:
  ~ScopeCompanion() = default;
};

struct ScopeOptions {
  /// Bytes that the scope may take in all. At least one page is always granted.
  size_t request_bytes_max = kUnlimitedBytes;
  /// Bytes of the first block; 0 for one page.
  size_t first_block_bytes = 0;
  /// Where blocks come from; null for PagePool::Default().
  PagePool* page_pool = nullptr;
  /// Where the message layer puts messages made on the scope.
  Mode mode = Mode::kCodec;
  /// False where a framework fills the messages and no exception may cross it: then message memory
  /// is counted but never refused.
  bool messages_may_throw = true;
  /// Not zero for a scope whose memory goes into quarantine when it ends; `page_pool` is then a
  /// guard::QuarantineOf(pool). Which of its pool's scopes it is.
  uint64_t sampled_number = 0;
  /// What parsing onto the scope may take.
  DecodeLimits decode_limits = {};
};

/// Times a step of a request while it stands, where the request is one of those that are timed.
/// Thread rule: any thread; steps of several threads add up.
class StepTimer {
 public:
  /// Null: not timed.
  explicit StepTimer(std::atomic<uint64_t>* nanos) noexcept
      : nanos_(nanos), start_(nanos == nullptr ? 0 : SteadyNanos()) {}
  ~StepTimer() {
    if (HARENA_UNLIKELY(nanos_ != nullptr)) {
      // At least one, so that what was timed is told from what was not.
      nanos_->fetch_add(std::max<uint64_t>(SteadyNanos() - start_, 1), std::memory_order_relaxed);
    }
  }
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

 private:
  std::atomic<uint64_t>* const nanos_;
  const uint64_t start_;
};

namespace scope_internal {

// Stands at the start of the scope's own first block: a scope costs one block and nothing else.
struct ScopeCore {
  ScopeCore(const ScopeOptions& options, PagePool& pool, Block first) noexcept
      : messages_may_throw(options.messages_may_throw),
        mode(options.mode),
        sampled_number(options.sampled_number),
        decode_limits(options.decode_limits),
        budget(kRequestBytesMax, options.request_bytes_max, first.bytes),
        outside(budget, pool.options().page_bytes),
        arena({.pool = &pool, .budget = &budget}, first, sizeof(ScopeCore)),
        resource(arena),
        first_block(first) {}
  /// Everything on the arena ends while all members still stand: containers that were created there
  /// give their memory back through `resource`.
  ~ScopeCore() { arena.Reset(Retain::kNothing); }

  struct Companion {
    const void* type;
    ScopeCompanion* object;
    Companion* next;
  };

  std::atomic<uint32_t> owners{1};
  bool detached = false;
  bool timed = false;
  bool beyond_limits = false;       // the first block is malloc's
  uint32_t made_by = kThreadSlots;  // ThreadSlot() of who made it
  const bool messages_may_throw;
  const Mode mode;
  const uint64_t sampled_number;
  const DecodeLimits decode_limits;
  size_t wire_bytes = 0;
  std::atomic<uint64_t> parse_nanos{0};      // where timed
  std::atomic<uint64_t> serialize_nanos{0};  // likewise
  Companion* companions = nullptr;
  Budget budget;
  OutsideCharge outside;
  Arena arena;
  ArenaResource resource;
  Block first_block;
  ScopeEnding ending;
  PoolState* pool_state = nullptr;  // set for scopes of a ScopePool
  DetachedLink detached_link;       // in its pool's list, once detached

  size_t bytes_used() const noexcept;
  size_t bytes_in_blocks() const noexcept;
  /// Drops one owner; the last one ends the scope, once, and all that the others did on it is
  /// visible to its destructors (cpp/tests/models/scope_owners.pml).
  static void Release(ScopeCore* core) noexcept;

 private:
  void EndSampled(bool moved) noexcept;
  void EndObjects() noexcept;
  static void GiveBack(ScopeCore* core, bool moved) noexcept;
  void RecordTimes() const noexcept;
};

struct ReleaseCore {
  void operator()(ScopeCore* core) const noexcept { ScopeCore::Release(core); }
};
// One owner of a scope.
using CoreOwner = std::unique_ptr<ScopeCore, ReleaseCore>;

/// The bytes of a block for `wanted_bytes` that stays within `bytes_max`, but at least a page.
/// Blocks come in powers of two, limits in any number: rounding up alone would overstep them.
size_t FirstBlockBytes(const PagePool& pool, size_t wanted_bytes, size_t bytes_max) noexcept;

/// Null when the budget or the system refuses the first block; `*refusal` then says which.
ScopeCore* TryMakeCore(const ScopeOptions& options, Refusal* refusal) noexcept;

/// Whatever the limits say: the first block is malloc's, counted against the process's limit. Null
/// when malloc has none.
ScopeCore* MakeCoreBeyondLimits(ScopeOptions options) noexcept;

// Its address tells one type from another. Not a constant: compilers and linkers may fold those
// that are alike into one.
template <typename T>
inline constinit char type_tag = 0;

}  // namespace scope_internal

/// One request's memory. Everything created on it lives until it ends, and ends with one reset.
///
/// It stands at the start of its own first page, so creating and ending one costs about a page's
/// allocation. Not copied; moving hands the memory to another owner and leaves nothing behind: a
/// moved-from scope may only be destroyed or assigned to.
///
/// Thread rule: thread-compatible: one thread at a time, any thread. Messages made by
///   CreateMessage() may be built by several threads at once, as protobuf's arena allows.
/// Lifetime rule: memory is valid until the destructor, or, after Detach(), until both the scope
///   and every DetachedScope are gone. What hands memory out does not work on a temporary scope.
class Scope {
 public:
  /// Throws BudgetExceeded (a std::bad_alloc) when there is no memory for the first block.
  explicit Scope(const ScopeOptions& options = {});

  /// The same without the exception: nullopt when there is no memory, `*refusal` says why.
  static std::optional<Scope> TryMake(const ScopeOptions& options = {},
                                      Refusal* refusal = nullptr) noexcept;

  /// Constructs a T; its destructor runs when the scope ends. For protobuf messages use
  /// CreateMessage(). Throws BudgetExceeded.
  template <typename T, typename... Args>
  T* Create(Args&&... args) & {
    return core_->arena.template Create<T>(std::forward<Args>(args)...);
  }

  /// A message whose parts live on the scope too. Needs "harena/pb/arena/message.h". Throws
  /// BudgetExceeded.
  template <typename T>
  T* CreateMessage() & {
    return MessageTraits<T>::Create(*this);
  }

  /// Keeps `object` alive until the scope ends. Throws BudgetExceeded.
  template <typename T>
  T* KeepAlive(std::shared_ptr<T> object) & {
    return core_->arena.template Create<std::shared_ptr<T>>(std::move(object))->get();
  }

  /// For std::pmr containers. Lifetime rule: the containers must end before the scope does.
  std::pmr::memory_resource* resource() & noexcept { return &core_->resource; }
  Arena& arena() noexcept { return core_->arena; }
  Mode mode() const noexcept { return core_->mode; }
  const DecodeLimits& decode_limits() const noexcept { return core_->decode_limits; }
  /// What this request may take and has taken.
  Budget& budget() noexcept { return core_->budget; }

  /// Counts memory outside the scope that lives as long.
  OutsideCharge& outside() noexcept { return core_->outside; }
  /// The same as a call. On false nothing is counted and `*refusal` says why.
  [[nodiscard]] bool TryChargeHeap(size_t bytes, Refusal* refusal = nullptr) noexcept {
    return core_->outside.TryCharge(bytes, refusal);
  }

  /// For what lives on the scope and gives blocks back when it is destroyed. Lifetime rule: as
  /// outside().
  ScopeEnding& ending() noexcept { return core_->ending; }

  /// True when its memory goes into quarantine at its end: nothing of it may be kept for others.
  bool sampled() const noexcept { return core_->sampled_number != 0; }

  /// ScopeOptions::messages_may_throw.
  bool messages_may_throw() const noexcept { return core_->messages_may_throw; }

  /// Counts bytes of the request as it came, for what reports say of its method.
  void CountWire(size_t bytes) noexcept { core_->wire_bytes += bytes; }
  /// Where the scope is one that is timed, one in many, what a StepTimer of that step adds to;
  /// null otherwise. Lifetime rule: as the scope's memory.
  std::atomic<uint64_t>* parse_nanos() noexcept {
    return HARENA_UNLIKELY(core_->timed) ? &core_->parse_nanos : nullptr;
  }
  std::atomic<uint64_t>* serialize_nanos() noexcept {
    return HARENA_UNLIKELY(core_->timed) ? &core_->serialize_nanos : nullptr;
  }

  /// Bytes used so far by everything on the scope. An estimate while other threads build messages.
  size_t bytes_used() const noexcept { return core_->bytes_used(); }

  /// An owner of the same memory, so that it outlives this scope (and the RPC it belongs to).
  [[nodiscard]] DetachedScope Detach() noexcept;

  /// The scope's one companion of type T, made on first use by T(Scope&). Throws BudgetExceeded.
  template <typename T>
  T& companion() {
    for (auto* entry = core_->companions; entry != nullptr; entry = entry->next) {
      if (entry->type == &scope_internal::type_tag<T>) return *static_cast<T*>(entry->object);
    }
    using Companion = scope_internal::ScopeCore::Companion;
    auto* entry =
        static_cast<Companion*>(core_->arena.Allocate(sizeof(Companion), alignof(Companion)));
    T* object = core_->arena.template Create<T>(*this);
    core_->companions =
        ::new (entry) Companion{&scope_internal::type_tag<T>, object, core_->companions};
    return *object;
  }

 private:
  friend class ScopePool;
  explicit Scope(scope_internal::ScopeCore* core) noexcept : core_(core) {}

  scope_internal::CoreOwner core_;
};

/// Ownership of a scope's memory after Detach(). Movable; ends the memory when it and the scope are
/// gone. Thread rule: as Scope. It may outlive the server and the ScopePool, not the PagePool.
class DetachedScope {
 public:
  DetachedScope() = default;

  explicit operator bool() const noexcept { return core_ != nullptr; }
  /// Lets go of the memory now.
  void Reset() noexcept { core_.reset(); }
  size_t bytes_used() const noexcept { return core_ == nullptr ? 0 : core_->bytes_used(); }

 private:
  friend class Scope;
  explicit DetachedScope(scope_internal::ScopeCore* core) noexcept : core_(core) {}

  scope_internal::CoreOwner core_;
};

}  // namespace harena
