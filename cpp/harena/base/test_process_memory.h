// What memory the process of a test holds, as the kernel sees it. Not installed.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace harena {

/// A field of /proc/self/status that is in kilobytes, such as "VmRSS"; a test failure and 0 where
/// there is none.
inline size_t StatusBytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    size_t kilobytes = 0;
    if (word == field + ":" && status >> kilobytes) return kilobytes << 10;
  }
  ADD_FAILURE() << "no " << field;
  return 0;
}

/// From now on "VmHWM" is the most since now. Whether the kernel has it.
inline bool ForgetPeak() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << "5" << std::flush;
  return clear.good();
}

}  // namespace harena
