// Tries out, once, the mechanisms that catch dangling pointers into a pool's memory.
#pragma once

#include <string>

#include "harena/mem/page_pool.h"

namespace harena {

/// What of a page pool's protection is on, and whether it did its work when it was tried.
struct MemoryCheck {
  bool asan = false;            ///< Built with AddressSanitizer.
  bool poisons = false;         ///< A block that came back was poisoned. False without ASan.
  bool quarantine = false;      ///< The pool's options allow for one.
  bool guards = false;          ///< A block in quarantine could neither be read nor written.
  bool explains = false;        ///< ... and its address was found with the scope it was of.
  bool fault_reporter = false;  ///< InstallFaultReporter() was called and its handler stands.

  /// All that is on works.
  bool ok() const noexcept { return poisons == asan && guards == quarantine && explains == guards; }
  /// What is on, in one line for people; says "FAILED" where ok() is false.
  std::string ToText() const;
};

/// Takes a block of `pool` and one of its quarantine, gives them back and looks whether the system
/// and the sanitizer would stop a touch (by asking them, not by faulting). Costs some 50 us and
/// leaves one block in quarantine. Thread rule: any thread.
MemoryCheck CheckMemory(PagePool& pool = PagePool::Default()) noexcept;

}  // namespace harena
