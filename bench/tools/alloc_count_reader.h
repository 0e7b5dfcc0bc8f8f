#pragma once

#include <sys/types.h>

#include <string>

#include "bench/tools/alloc_count.h"

namespace harena::bench {

/// What a process has allocated so far.
struct AllocCounts {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t bytes = 0;
};

/// Reads another process's counter file while that process runs.
/// Lifetime: owns its mapping. Thread-safe for reading.
class AllocCountReader {
 public:
  /// Throws std::runtime_error if `path` is not a counter file.
  explicit AllocCountReader(const std::string& path);
  ~AllocCountReader();
  AllocCountReader(const AllocCountReader&) = delete;
  AllocCountReader& operator=(const AllocCountReader&) = delete;

  /// Without those of `left_out`, a thread's number in the system.
  AllocCounts Read(pid_t left_out = 0) const;

 private:
  const AllocCountFile* file_;
};

}  // namespace harena::bench
