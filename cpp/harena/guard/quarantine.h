// What is known of memory in quarantine: pages that sampled scopes lived on and that nobody may
// touch any more. guard::QuarantineOf(pool) hands such pages out, a fault reporter reads the notes.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace harena {

class PagePool;

/// What a page pool's quarantine holds and did. Counts since the start.
struct QuarantineStats {
  size_t bytes_in_use = 0;      ///< Blocks that sampled scopes hold now.
  size_t bytes_held = 0;        ///< Blocks nobody may touch now: addresses, no physical memory.
  size_t blocks_held = 0;       ///< How many those are.
  uint64_t blocks_entered = 0;  ///< Blocks that were put into quarantine.
  uint64_t blocks_left = 0;     ///< Of those, blocks whose time or place was over.
  uint64_t refusals = 0;        ///< Blocks that the system refused; the scope then was not sampled,
                                ///< or was refused memory.
};

/// Where a scope ended. Filled where it ends, read where a fault is reported.
struct ScopeEnd {
  static constexpr size_t kNameBytesMax = 96;
  static constexpr size_t kFramesMax = 24;

  std::array<char, kNameBytesMax> name{};  ///< Of the method; null-terminated, cut to fit.
  uint64_t number = 0;                     ///< Which of the method's scopes; 0 when unknown.
  int64_t unix_ms = 0;                     ///< When it ended.
  pid_t thread = 0;                        ///< On which thread, as the kernel counts them.
  uint32_t frame_count = 0;
  std::array<void*, kFramesMax> frames{};  ///< The calls that led there, innermost first.

  /// The calling thread, here and now.
  void Note(std::string_view method, uint64_t scope_number) noexcept;
};

/// While it stands, blocks that its thread gives back to a quarantine are noted as those of the
/// scope that ended there.
/// REQUIRES: nothing in it waits, users' destructors least of all: a fiber that waits lets others
/// use its thread, and may go on on another one. Thread rule: belongs to the thread that made it.
/// It nests: the inner one counts. Lifetime rule: `end` outlives it.
class ScopeEndFrame {
 public:
  explicit ScopeEndFrame(const ScopeEnd& end) noexcept;
  ~ScopeEndFrame();
  ScopeEndFrame(const ScopeEndFrame&) = delete;
  ScopeEndFrame& operator=(const ScopeEndFrame&) = delete;

  /// What the calling thread's innermost one notes, or nullptr.
  static const ScopeEnd* Current() noexcept;

 private:
  const ScopeEnd* const outer_;
};

/// What Harena knows about an address that must not be touched.
struct FaultyAddress {
  enum class Kind {
    kUnknown,    ///< Nothing: no memory in quarantine.
    kEnded,      ///< Its scope has ended.
    kBeyondEnd,  ///< Behind the end of a block that a sampled scope holds.
    kGuard,      ///< In a guard page of a pool: behind a block's end, or before the first one.
  };
  Kind kind = Kind::kUnknown;
  size_t offset = 0;              ///< From the start of the block.
  size_t block_bytes = 0;         ///< Of the block; kGuard: 0 where none is before the address.
  const ScopeEnd* end = nullptr;  ///< kEnded: of which scope. Good until the block leaves.
};

/// Looks `address` up in every quarantine of the process. Thread rule: any thread, signal handlers
/// included. A block that leaves the quarantine at that very moment may be found or not.
FaultyAddress ExplainAddress(const void* address) noexcept;

namespace guard {

/// A pool like `pool` in sizes and budget, but each of its blocks has pages of its own, and a
/// block that comes back is never handed out again: touching it faults, for as long as the
/// options of `pool` say. For sampled scopes; a block costs some system calls. Made on first use;
/// null when the options turn it off or there is no memory or place for it. It ends with `pool`.
/// Thread rule: any thread.
PagePool* QuarantineOf(PagePool& pool) noexcept;

/// All zero where there is no quarantine.
QuarantineStats QuarantineStatsOf(const PagePool& pool) noexcept;

}  // namespace guard

}  // namespace harena
