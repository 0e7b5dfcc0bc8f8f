// How safety tests say what they counted; tools/safety_report.py sums it over all of them.
#pragma once

#include <cstdint>
#include <cstdio>

namespace harena {

/// Prints `safety: NAME=COUNT` on a line of its own. `name` is one of the COUNTS of
/// tools/safety_report.py; any other makes the report fail.
/// Thread rule: any thread. Call it once the count is final: each line is added to the sum.
inline void SafetyCount(const char* name, uint64_t count) {
  std::printf("\nsafety: %s=%llu\n", name, static_cast<unsigned long long>(count));
  std::fflush(stdout);
}

}  // namespace harena
