// Allocations that fail when told to: malloc and its kin, operator new, mmap and madvise of the
// whole program, shared libraries included. Where a sanitizer owns malloc and mmap, operator new
// alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace harena::faults {

/// From now on the `n`-th allocation (counted from 1) of the calling thread fails; the others
/// succeed. 0 lets all of them succeed. Sets the counts below to zero.
void FailAllocation(int64_t n) noexcept;
/// The same for mmap().
void FailMap(int64_t n) noexcept;
/// Whether every madvise() fails.
void FailAdvice(bool fail) noexcept;

/// Whether the failure that was ordered has happened on this thread.
bool HasFailed() noexcept;

/// Says of an allocation, by the return addresses above it, whether it counts.
using Counts = bool (*)(void* const* frames, int frame_count);

/// From now on the `n`-th allocation that `counts` says yes to fails, on whichever thread; for
/// servers, whose threads are not the test's own. 0 ends that.
void FailAllocationOf(Counts counts, int64_t n) noexcept;
/// Whether that failure has happened.
bool HasFailedOf() noexcept;
/// Allocations of the calling thread are never counted by FailAllocationOf().
void SpareThisThread() noexcept;

/// Allocations that have not been freed yet, of all threads.
int64_t LiveAllocations() noexcept;

/// From now on a process that SIGABRT or SIGSEGV ends writes first, to standard error, where on
/// that thread the ordered failure happened: one frame per line.
void PrintPlaceOnDeath() noexcept;

}  // namespace harena::faults
