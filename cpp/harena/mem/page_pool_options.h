#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "harena/base/clock.h"
#include "harena/mem/budget.h"

namespace harena {

enum class HugePages {
  kOff,     ///< Never ask; the system's own setting decides.
  kAdvise,  ///< madvise(MADV_HUGEPAGE) on each 2 MiB region. Decay of a part splits it.
};

/// How a PagePool keeps memory. Every default suits a service of a few hundred requests in flight.
struct PagePoolOptions {
  /// Bytes of a page, the smallest block: a power of two from 4 KiB to 2 MiB.
  size_t page_bytes = size_t{64} << 10;
  /// Bytes of the largest block that is kept for reuse: a power of two, at least page_bytes. The
  /// size classes are page_bytes, twice that, and so on up to here; larger blocks are mapped and
  /// unmapped each time.
  size_t block_bytes_max = size_t{32} << 20;
  /// Bytes that one thread may keep for itself. 0 turns the thread caches off.
  size_t thread_cache_bytes_max = size_t{4} << 20;
  /// Bytes that the central list may keep resident; what comes back beyond it goes to the system.
  /// Where the budget has a limit, also no more than it leaves: free and used stay within it
  /// together.
  size_t retained_bytes_max = size_t{256} << 20;
  /// Free blocks that were not used for this long go back to the system. Zero keeps them for ever.
  std::chrono::milliseconds decay_after{10'000};
  HugePages huge_pages = HugePages::kOff;
  /// Hardening, each part alone or all of them (Hardened()); docs/quarantine.md says what each one
  /// finds and costs. harena::guard does the work, and has to be linked.
  ///
  /// A page of 4 KiB that faults before and behind each block. Its addresses are in no count. Each
  /// block is a mapping of its own then, of which the system allows a process some 65,000; beyond
  /// that memory is refused. Not together with huge_pages.
  bool guard_pages = false;
  /// Overwrites each block with zeroes as it comes back. What lies elsewhere is not wiped: strings
  /// on the heap, messages in modes `heap` and `arena`, and those that mode `reuse` keeps.
  bool wipe_on_release = false;
  /// Stops the process when a block comes back twice, when a list of free blocks names anything but
  /// one of them, and when somebody wrote to the first bytes of a free one: 16 of them, with
  /// wipe_on_release 4096. Seen when the block is handed out next.
  bool check_free_lists = false;
  /// Bytes of blocks that sampled scopes lived on and that are held as addresses which fault when
  /// touched. They take no physical memory, but up to 2 MiB of addresses each. 0 turns quarantine
  /// off, whatever Options::quarantine_one_in says.
  size_t quarantine_bytes_max = size_t{32} << 20;
  /// How long such a block is held at most.
  std::chrono::milliseconds quarantine_for{60'000};
  /// Charged with the blocks that are outside the central list: in use, or kept by threads. When it
  /// refuses, the thread caches are emptied before an allocation fails. May be null.
  /// Lifetime rule: must outlive the pool.
  Budget* budget = &ProcessBudget();
  /// Clock for decay, in milliseconds; replaced by tests.
  uint64_t (*now_ms)() = &CoarseMillis;

  /// Default options with all hardening.
  static PagePoolOptions Hardened() {
    PagePoolOptions options;
    options.guard_pages = options.wipe_on_release = options.check_free_lists = true;
    return options;
  }

  bool hardened() const noexcept { return guard_pages || wipe_on_release || check_free_lists; }

  /// What is wrong with these options and how to put it right; nullopt when nothing is.
  std::optional<std::string> Validate() const;
};

/// What of a PagePool's options may change while it is used.
struct PagePoolRetention {
  size_t retained_bytes_max = 0;             ///< As in PagePoolOptions.
  std::chrono::milliseconds decay_after{0};  ///< As in PagePoolOptions.
};

/// What a PagePool holds. A snapshot: exact when no other thread uses the pool, otherwise each
/// number is right for some moment during the call.
struct PagePoolStats {
  size_t bytes_in_use = 0;         ///< In blocks that callers hold.
  size_t bytes_thread_cached = 0;  ///< Free, resident, kept by threads.
  size_t bytes_retained = 0;       ///< Free, resident, in the central list.
  size_t bytes_cold = 0;           ///< Free, addresses only: no physical memory.
  size_t bytes_mapped = 0;         ///< All of the above: what was mapped from the page source.
  size_t bytes_huge_advised = 0;   ///< Of bytes_mapped: for which the system was asked for huge
                                   ///< pages and agreed. Whether it has some is its own affair.
  uint64_t blocks_allocated = 0;   ///< Blocks handed out since the start.
  uint64_t blocks_freed = 0;       ///< Blocks that came back since the start.
  uint64_t blocks_moved = 0;       ///< Of these, those of scopes of a ScopePool that ended on
                                   ///< another thread than they began on.
  uint64_t regions_mapped = 0;     ///< Times the page source was asked for memory and gave it.
  uint64_t regions_unmapped = 0;   ///< Times a region went back whole.
  uint64_t bytes_decommitted = 0;  ///< Given back to the system by decay or by the retention bound.
  uint64_t refusals = 0;           ///< Times the page source had no memory; see Budget for limits.
};

}  // namespace harena
