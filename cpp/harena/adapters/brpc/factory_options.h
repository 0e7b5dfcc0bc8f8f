#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "harena/scope/options.h"

namespace harena::brpc {

/// A server's options: defaults, and whole sets for single methods by their full name as brpc's
/// /status page writes it ("package.Service.Method").
struct FactoryOptions {
  Options defaults = {};
  std::map<std::string, Options> methods = {};
  /// Bytes that all scopes of the process may take together, set for the whole process
  /// (ProcessBudget()) when the factory is made. 0 leaves that limit as it is. An Admission is what
  /// answers calls beyond it.
  size_t process_bytes_max = 0;
  /// How often idle memory is looked for, so that a server without traffic gives it back too. Zero
  /// turns the background thread off; pools then decay only while they are used.
  std::chrono::milliseconds decay_interval{1000};
  /// When no request came for the page pool's `decay_after`, ask malloc too to give free memory
  /// back (glibc's malloc_trim): IOBuf blocks and strings are on the heap. Needs decay_interval.
  bool trim_heap_when_idle = true;
  /// Whether the process's --harena_* flags, where they are set, win over these options, at start
  /// and when they are changed while running.
  bool follow_flags = true;
  /// Whether the first factory of the process tries out at its start what protects memory, and says
  /// in one line what is on (SelfCheck(), with the default options' pool).
  bool self_check = true;

  /// What is wrong with these options and how to put it right; nullopt when nothing is. A method
  /// that no linked service has is wrong too.
  std::optional<std::string> Validate() const;
};

}  // namespace harena::brpc
