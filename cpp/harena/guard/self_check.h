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

  /// A part of hardening: whether the pool's options ask for it, and whether it worked.
  struct Part {
    bool on = false;
    bool works = false;
  };
  Part guard_pages;      ///< The bytes before and behind a block could neither be read nor written.
  Part wipe_on_release;  ///< A block that came back was zeroes.
  Part check_free_lists;  ///< A block that came back was marked.

  /// All that is on works.
  bool ok() const noexcept {
    return poisons == asan && guards == quarantine && explains == guards &&
           guard_pages.on == guard_pages.works && wipe_on_release.on == wipe_on_release.works &&
           check_free_lists.on == check_free_lists.works;
  }
  /// What is on, in one line for people; says "FAILED" where ok() is false.
  std::string ToText() const;
};

/// Whether CheckMemory() tries a pool's quarantine, which makes it and leaves one block there.
enum class CheckQuarantine { kNo, kYes };

/// Takes a block of `pool` and one of its quarantine, gives them back and looks whether the system
/// and the sanitizer would stop a touch (by asking them, not by faulting). Costs some 50 us.
/// Thread rule: any thread; where others use the pool meanwhile, what is looked at may be theirs
/// already, and is tried again some times.
MemoryCheck CheckMemory(PagePool& pool = PagePool::Default(),
                        CheckQuarantine quarantine = CheckQuarantine::kYes) noexcept;

}  // namespace harena
