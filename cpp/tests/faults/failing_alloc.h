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

/// Allocations that have not been freed yet, of all threads.
int64_t LiveAllocations() noexcept;

/// Writes where the ordered failure happened to standard error: one frame per line.
void PrintPlace() noexcept;

}  // namespace harena::faults
