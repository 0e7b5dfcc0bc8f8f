#include "harena/pb/call/message_keeper.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <google/protobuf/arena.h>

#include "harena/base/fork_mutex.h"
#include "harena/pb/arena/block_hooks.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/scope/profile.h"

namespace harena::pb {

using google::protobuf::Arena;
using google::protobuf::MessageLite;

namespace {

struct ArenaEnd {
  void operator()(Arena* arena) const noexcept { EndArena(*arena, end); }
  const ScopeEnd* end = nullptr;  // of the sampled scope whose it was
};

}  // namespace

struct MessageKeeper::Instance {
  Instance(const State& state, PagePool& pool, WhenRefused when_refused);

  alignas(Arena) std::byte place[sizeof(Arena)];
  std::unique_ptr<Arena, ArenaEnd> arena;  // ends also when the messages cannot be made
  MessageLite* request;
  MessageLite* response;
  bool fresh = true;
  /// What may be held beside the arena: string buffers are on the heap, Clear() keeps their
  /// capacity, and those of dropped map nodes stay until the arena ends. protobuf counts none of
  /// it, but each request can add no more than its wire bytes.
  size_t outside_bytes_max = 0;
  uint64_t idle_since_ms = 0;
};

struct MessageKeeper::State {
  State(const MessageLite& request, const MessageLite& response, const Options& given)
      : request_prototype(request), response_prototype(response), options(given) {
    // Room for all of them now: returning an instance happens where nothing may fail.
    idle.reserve(options.reuse_instances_max);
  }

  bool WorthKeeping(const Instance& instance) const noexcept;
  void Return(std::unique_ptr<Instance> instance, size_t request_bytes) noexcept;
  void Drop(std::unique_ptr<Instance> instance) noexcept;
  size_t DropIdleBefore(uint64_t before_ms) noexcept;

  const MessageLite& request_prototype;
  const MessageLite& response_prototype;
  const Options options;
  Profile fresh_bytes;

  mutable ForkMutex mutex;
  std::vector<std::unique_ptr<Instance>> idle;  // hottest last
  MessageKeeperStats counts;
};

// Lives on the borrowing scope's arena, so the instance returns when the scope ends.
struct MessageKeeper::Kept {
  Kept(std::shared_ptr<State> owner, Scope& scope) noexcept
      : state(std::move(owner)),
        outside(scope.outside()),
        budget(scope.budget()),
        ending(scope.ending()),
        sampled(scope.sampled()) {}
  ~Kept() {
    if (instance == nullptr) return;
    if (Refusals() == refusals_before && !sampled) {
      state->Return(std::move(instance), outside.bytes());
    } else {
      instance->arena.get_deleter().end = ending.end;
      state->Drop(std::move(instance));
    }
  }

  // Counts what may have stopped protobuf half way through a change of a message. Its maps are then
  // broken: Clear() would walk a table that is not there.
  uint64_t Refusals() const noexcept { return budget.refusals() + SystemRefusals(); }

  std::shared_ptr<State> state;
  std::unique_ptr<Instance> instance;
  const OutsideCharge& outside;  // these three are in the scope, which outlives its arena
  const Budget& budget;
  const ScopeEnding& ending;
  const bool sampled;  // its messages are of no other request's, before or after
  uint64_t refusals_before = 0;
};

MessageKeeper::Instance::Instance(const State& state, PagePool& pool, WhenRefused when_refused)
    : arena(::new (place) Arena(EndedArenaOptions(pool, when_refused))),
      request(state.request_prototype.New(arena.get())),
      response(state.response_prototype.New(arena.get())) {}

bool MessageKeeper::State::WorthKeeping(const Instance& instance) const noexcept {
  if (instance.arena->SpaceAllocated() > options.reuse_bytes_max) return false;
  if (instance.outside_bytes_max > options.reuse_bytes_max) return false;
  const size_t usual_bytes =
      std::max(fresh_bytes.Percentile(90), options.pool().options().page_bytes);
  return static_cast<double>(instance.arena->SpaceUsed()) <=
         options.reuse_growth_max * static_cast<double>(usual_bytes);
}

void MessageKeeper::State::Return(std::unique_ptr<Instance> instance,
                                  size_t request_bytes) noexcept {
  if (std::exchange(instance->fresh, false)) fresh_bytes.Record(instance->arena->SpaceUsed());
  // The size that serializing left behind; computing it anew would cost a pass over the message.
  const int response_bytes = instance->response->GetCachedSize();
  instance->outside_bytes_max += request_bytes + static_cast<size_t>(std::max(response_bytes, 0));
  if (WorthKeeping(*instance)) {
    // Now and not when it is next taken: this is off the path of a request.
    instance->request->Clear();
    instance->response->Clear();
    instance->idle_since_ms = options.pool().options().now_ms();
    std::lock_guard lock(mutex);
    if (idle.size() < options.reuse_instances_max) {
      idle.push_back(std::move(instance));
      return;
    }
  }
  Drop(std::move(instance));
}

void MessageKeeper::State::Drop(std::unique_ptr<Instance> instance) noexcept {
  instance.reset();
  std::lock_guard lock(mutex);
  ++counts.instances_dropped;
}

size_t MessageKeeper::State::DropIdleBefore(uint64_t before_ms) noexcept {
  size_t dropped = 0;
  while (true) {
    std::unique_ptr<Instance> victim;
    {
      std::lock_guard lock(mutex);
      // The coldest stands first, as instances are taken from the back.
      if (idle.empty() || idle.front()->idle_since_ms >= before_ms) return dropped;
      victim = std::move(idle.front());
      idle.erase(idle.begin());
      ++counts.instances_dropped;
    }
    ++dropped;
  }
}

MessageKeeper::MessageKeeper(const MessageLite& request_prototype,
                             const MessageLite& response_prototype, const Options& options)
    : state_(std::make_shared<State>(request_prototype, response_prototype, options)) {}

MessageKeeper::~MessageKeeper() { Trim(); }

MessageKeeper::Pair MessageKeeper::Take(Scope& scope) {
  Kept* kept = scope.Create<Kept>(state_, scope);
  if (!scope.sampled()) {
    std::lock_guard lock(state_->mutex);
    if (!state_->idle.empty()) {
      kept->instance = std::move(state_->idle.back());
      state_->idle.pop_back();
    }
  }
  Budget& budget = scope.budget();
  if (kept->instance != nullptr) {
    const size_t held_bytes = sizeof(Instance) + kept->instance->arena->SpaceAllocated();
    // One that holds more than this request may take is of no use to it.
    if (!budget.TryCharge(held_bytes)) state_->Drop(std::move(kept->instance));
  }
  if (kept->instance == nullptr) {
    Refusal refusal;
    if (!budget.TryCharge(sizeof(Instance), 0, &refusal)) throw BudgetExceeded(refusal);
    BudgetFrame frame(budget);
    kept->instance = std::make_unique<Instance>(
        *state_, scope.sampled() ? *scope.arena().options().pool : state_->options.pool(),
        scope.messages_may_throw() ? WhenRefused::kThrow : WhenRefused::kOverrun);
    std::lock_guard lock(state_->mutex);
    ++state_->counts.instances_built;
  }
  kept->refusals_before = kept->Refusals();
  return {kept->instance->request, kept->instance->response};
}

size_t MessageKeeper::Decay() noexcept {
  const PagePool& pool = state_->options.pool();
  const auto decay_ms = static_cast<uint64_t>(pool.retention().decay_after.count());
  const uint64_t now_ms = pool.options().now_ms();
  if (decay_ms == 0 || now_ms < decay_ms) return 0;
  return state_->DropIdleBefore(now_ms - decay_ms + 1);
}

size_t MessageKeeper::Trim() noexcept { return state_->DropIdleBefore(UINT64_MAX); }

MessageKeeperStats MessageKeeper::stats() const {
  std::lock_guard lock(state_->mutex);
  MessageKeeperStats stats = state_->counts;
  stats.instances_idle = state_->idle.size();
  const PagePool& pool = state_->options.pool();
  for (const auto& instance : state_->idle) {
    stats.bytes_idle += WholePages(instance->arena->SpaceAllocated(), pool);
  }
  return stats;
}

}  // namespace harena::pb
