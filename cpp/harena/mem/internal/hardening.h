// What a hardened pool does with its blocks: fences them, wipes them, and looks for what must not
// be.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harena/mem/internal/region.h"

namespace harena::mem_internal {

/// Makes what is between the region's blocks, before the first and behind the last fault when it is
/// touched. False when the system refuses (it bounds the mappings of a process); then some of it
/// may be guarded already. REQUIRES: `region` was laid out for that, see Region::stride_bytes.
bool GuardGaps(const Region& region) noexcept;

/// Undoes that, for the source that gets the memory back.
void UnguardGaps(const Region& region) noexcept;

/// What marks of one pool are made with: never 0, and unknown to whoever writes into its blocks.
uint64_t MakeMarkSecret() noexcept;

/// Marks a block, as one that is free. `wiped`: its first 4 KiB are made as Wipe() leaves them.
void MarkFree(void* block, uint64_t secret, bool wiped) noexcept;

/// Overwrites a block with zeroes. No compiler leaves that out, though nobody reads them.
void Wipe(void* block, size_t bytes) noexcept;

inline constexpr char kGivenBackTwice[] =
    "PagePool::Free: this block is free already: it was given back twice; look for a second owner, "
    "or an owner that was copied";

/// For a block that came back: from now on it does not count as in use. Stops the process when it
/// did not before.
void NoteFreed(Region& region, const void* block) noexcept;

/// For a block that a list of free ones named: stops the process unless it is a free block of
/// `pool`, of that class, which nobody wrote to; `wiped` says that it has to be zeroes. From now on
/// it counts as in use.
void CheckHandedOut(const PagePool* pool, uint32_t size_class, void* block, uint64_t secret,
                    bool wiped) noexcept;

}  // namespace harena::mem_internal
