#pragma once

#include <time.h>

#include <cstdint>

namespace harena {

/// Milliseconds of a clock that never goes backwards, some milliseconds coarse, a few nanoseconds
/// to read (CLOCK_MONOTONIC_COARSE). For ageing cached memory, not for latency.
/// Thread rule: any thread.
inline uint64_t CoarseMillis() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

/// Nanoseconds of a clock that never goes backwards, to time a step: twenty-odd to read.
/// Thread rule: any thread.
inline uint64_t SteadyNanos() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace harena
