// protobuf arenas on Harena's memory, through protobuf's public block hooks.
#pragma once

#include <cstddef>
#include <cstdint>

#include <google/protobuf/arena.h>

#include "harena/guard/quarantine.h"
#include "harena/mem/page_pool.h"

namespace harena::pb {

/// What an arena does when a budget refuses it a block while a BudgetFrame stands.
enum class WhenRefused {
  kThrow,    ///< BudgetExceeded, for whoever made the frame.
  kOverrun,  ///< Grow all the same: for messages that a framework fills in frames of its own.
};

/// Options for a google::protobuf::Arena whose blocks are the pages of `pool`; an allocation larger
/// than a page gets a larger block of its own. Works with stock protobuf, anywhere an ArenaOptions
/// is taken. Blocks do not grow: a page costs a few nanoseconds, and whole pages are what the next
/// request, of another size, can use without touching new memory.
/// Lifetime rule: `pool` must outlive every arena made with the result.
google::protobuf::ArenaOptions PageArenaOptions(PagePool& pool = PagePool::Default(),
                                                WhenRefused when_refused = WhenRefused::kThrow);

/// Options for an arena as protobuf makes it by default, its blocks from malloc, but counted: they
/// are charged to budgets as pages are.
google::protobuf::ArenaOptions MallocArenaOptions(WhenRefused when_refused = WhenRefused::kThrow);

/// The same for an arena that ends by EndArena(). (One that somebody resets has its blocks back
/// when the next such arena ends on the thread, or the thread does.)
google::protobuf::ArenaOptions EndedArenaOptions(PagePool& pool,
                                                 WhenRefused when_refused = WhenRefused::kThrow);

/// Bytes of the pages in an arena whose SpaceAllocated() is `bytes`. Newer protobufs count an
/// arena's list of cleanups there, a few hundred bytes that come from malloc.
inline size_t WholePages(size_t bytes, const PagePool& pool) noexcept {
  return bytes - bytes % pool.options().page_bytes;
}

/// Destroys `arena`, gives its blocks back and says how many those were; 0 where its options were
/// not EndedArenaOptions(). They go back in the order in which they were taken, so that the one
/// written last is on top of the pool's stack. protobuf frees the other way round; the next request
/// would then start in the block that has been out of use, and out of the cache, for longest.
/// `end`, unless null, is noted with blocks of a quarantine.
/// Thread rule: any thread, and another one at the end where a destructor of a fiber waits.
uint64_t EndArena(google::protobuf::Arena& arena, const ScopeEnd* end) noexcept;

/// Times an arena inside a BudgetFrame was refused a block by the process's budget or the system
/// itself, not by the frame's budget (that one counts its own). Count since the start.
uint64_t SystemRefusals() noexcept;

/// Times an arena grew over the process's limit because refusing would have meant an exception in
/// code that does not expect one: outside any BudgetFrame, or with WhenRefused::kOverrun. Count
/// since the start.
uint64_t UnframedOverruns() noexcept;

}  // namespace harena::pb
