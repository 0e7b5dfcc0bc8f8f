// Says, when the process faults on memory in quarantine, whose memory it was and where it ended.
#pragma once

#include <cstdint>

namespace harena {

/// Installs a handler of SIGSEGV that writes a report to standard error when the address is one
/// that a quarantine watches, or in a guard page of a hardened pool, and then does what
/// would have happened without it: it calls the handler that was there before, or lets the process
/// die. Other faults go there at once.
///
/// Call it at start-up, after other libraries have installed theirs. Without it a touch of memory
/// in quarantine still kills the process, but as any other bad pointer does. False when the system
/// refuses, or when another handler has replaced it since; true when it stands already. Thread
/// rule: any thread.
bool InstallFaultReporter() noexcept;

/// True when it is what SIGSEGV calls now: nobody has replaced it.
bool FaultReporterInstalled() noexcept;

/// Faults reported since the start: above zero only where a handler before ours let the process
/// live.
uint64_t FaultsReported() noexcept;

}  // namespace harena
