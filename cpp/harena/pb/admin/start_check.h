// One line at start-up: what of Harena's protection and of its codec is on, and that it works.
#pragma once

#include <string>

#include "harena/guard/self_check.h"
#include "harena/pb/codec/registered.h"
#include "harena/scope/options.h"

namespace harena {

/// What SelfCheck() found.
struct SelfCheckReport {
  MemoryCheck memory;
  size_t quarantine_one_in = 0;  ///< 0: no scope is sampled.
  std::string codec;             ///< "codec on (protobuf 3.21.12, arena strings on, 14 messages)"

  /// All that is on works.
  bool ok() const noexcept { return memory.ok(); }
  /// "self-check: ASan poisoning off (not built with it), quarantine works, fault reporter
  /// installed, hardening off, 1 in 1000 scopes, codec on (...)"
  std::string ToText() const;
};

/// Tries the mechanisms out on the page pool of `options`, and says the result through
/// Log(): as kInfo, or as kWarning when something that is on does not work. Costs some 50 us.
/// Call it after InstallFaultReporter(). Thread rule: any thread, from main() on.
SelfCheckReport SelfCheck(const Options& options = {});

/// What an adapter's `self_check` option does: SelfCheck(options) where nobody in this process
/// called this function before, otherwise nothing. True when it did it. Thread rule: any thread.
bool SelfCheckOnce(const Options& options);

}  // namespace harena
