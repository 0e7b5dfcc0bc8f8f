#pragma once

#include <atomic>
#include <cstdint>

namespace harena::bench {

/// Environment variable that names the counter file for the preloaded counter.
inline constexpr char kAllocCountEnv[] = "HARENA_ALLOC_COUNT_FILE";

inline constexpr int kAllocCountSlots = 64;

/// The counter file's contents: one slot per thread (modulo), so that threads rarely share a line.
/// Written by the process that is counted, read by whoever maps the file.
struct AllocCountSlot {
  /// malloc, calloc, realloc, aligned forms and operator new; a realloc counts as one allocation.
  std::atomic<uint64_t> allocations;
  /// free and operator delete of a non-null pointer.
  std::atomic<uint64_t> frees;
  /// Bytes asked for.
  std::atomic<uint64_t> bytes;
  /// The thread's number in the system; of those that share a slot, the newest's.
  std::atomic<uint64_t> thread;
  char padding[64 - 4 * sizeof(uint64_t)];
};

struct AllocCountFile {
  AllocCountSlot slots[kAllocCountSlots];
};

static_assert(sizeof(AllocCountSlot) == 64);

}  // namespace harena::bench
