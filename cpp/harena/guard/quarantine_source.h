// The page source of a quarantine: what is unmapped stays behind as addresses that fault.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "harena/guard/quarantine.h"
#include "harena/mem/page_pool_options.h"
#include "harena/mem/page_source.h"
#include "harena/mem/region.h"

namespace harena::guard {

/// Gives every block a 2 MiB region of addresses, of which only the block itself can be touched.
/// Unmap() takes the physical memory away and keeps the addresses, so that a touch faults, until
/// quarantine_bytes_max of newer blocks have followed or quarantine_for has passed.
///
/// Thread rule: any thread. Find() takes no lock, for signal handlers.
class QuarantineSource {
 public:
  /// Blocks held at most, whatever their size.
  static constexpr size_t kBlocksMax = 512;

  explicit QuarantineSource(const PagePoolOptions& options);
  ~QuarantineSource();
  QuarantineSource(const QuarantineSource&) = delete;
  QuarantineSource& operator=(const QuarantineSource&) = delete;

  void* Map(size_t bytes, size_t alignment) noexcept;
  void Unmap(void* data, size_t bytes) noexcept;
  bool Decommit(void*, size_t) noexcept { return false; }
  bool AdviseHuge(void*, size_t) noexcept { return false; }

  /// Lets go of what has been held for quarantine_for.
  void Decay() noexcept;
  /// The held block that `address` lies in; kind kUnknown when there is none.
  FaultyAddress Find(const void* address) const noexcept;
  /// All but `bytes_in_use`.
  QuarantineStats stats() const noexcept;

  /// Around fork(): no other thread is inside meanwhile.
  void LockForFork() noexcept { mutex_.lock(); }
  void UnlockAfterFork() noexcept { mutex_.unlock(); }

 private:
  struct Held {
    std::atomic<uintptr_t> begin{0};
    std::atomic<size_t> bytes{0};  // 0: none. Written last, so that Find() sees a whole one.
    uint64_t held_ms = 0;
    ScopeEnd end;
  };

  static size_t Reserved(size_t bytes) noexcept {
    return (bytes + kRegionBytes - 1) & ~(kRegionBytes - 1);
  }
  Held& At(uint64_t index) const noexcept { return held_[index % kBlocksMax]; }
  // All REQUIRE the mutex.
  void* TakeOver(size_t bytes) noexcept;
  void* LetGoOfOldest() noexcept;
  void DropOldest() noexcept;
  void DropBefore(uint64_t before_ms) noexcept;

  const size_t bytes_max_;
  const uint64_t keep_ms_;
  uint64_t (*const now_ms_)();

  mutable std::mutex mutex_;
  const std::unique_ptr<Held[]> held_;  // a ring: first_ is the oldest, next_ the next free place
  uint64_t first_ = 0;
  uint64_t next_ = 0;
  size_t bytes_held_ = 0;
  uint64_t refusals_ = 0;
};
static_assert(PageSource<QuarantineSource>);

}  // namespace harena::guard
