#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace harena::bench {

/// Pins the whole process to one core; call it before threads start. Returns false if the machine
/// or its rules do not allow it.
bool PinTo(int cpu);

/// User plus system time that `pid` has used, all threads, in seconds. Negative if it is gone.
double CpuSeconds(pid_t pid);

/// The number of a thread of `pid`, by its name in the system; 0 when there is none.
pid_t ThreadNamed(pid_t pid, const std::string& name);

/// Resident memory of `pid` in bytes, now and at its highest. Zero if it is gone.
struct Memory {
  uint64_t rss_bytes = 0;
  uint64_t rss_peak_bytes = 0;
};
Memory MemoryOf(pid_t pid);

}  // namespace harena::bench
