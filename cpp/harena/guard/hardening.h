// What a hardened pool does with its blocks: it fences them, wipes them, and looks for what must
// not be.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harena/mem/page_guard.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/page_pool_options.h"
#include "harena/mem/region.h"

namespace harena::guard {

/// A program that includes this header can harden its pools, also where it calls nothing of this
/// library: the pools alone do not have the linker take MakePageGuard() out of it. Scopes do.
[[gnu::used]] inline constexpr auto* kMakePageGuard = &MakePageGuard;

/// A second pool of the process, with PagePoolOptions::Hardened(); made on first use, never
/// destroyed. For the methods whose memory has to be: Options::page_pool.
PagePool& HardenedPool();

/// The parts of hardening that a pool's options ask for; each does nothing where they do not.
/// PageGuard says when each function is called. Thread rule: any thread.
class Hardening {
 public:
  Hardening(const PagePoolOptions& options, const PagePool* pool) noexcept;

  size_t gap_bytes() const noexcept { return guards_ ? kPageBytesMin : 0; }
  /// False when the system refuses: it bounds the mappings of a process.
  bool Fence(const Region& region) noexcept;
  void Unfence(const Region& region) noexcept;

  void Prepare(void* block) noexcept;
  /// Stops the process unless `block` is a free block of the pool, of that class, which nobody
  /// wrote to. From now on it counts as in use.
  void HandedOut(void* block, uint32_t size_class) noexcept;
  /// Stops the process when `block` did not count as in use.
  void Returned(void* block, Region& region) noexcept;

 private:
  const PagePool* const pool_;
  const bool guards_;
  const bool wipes_;
  const bool checks_;
  // What marks of this pool are made with: unknown to whoever writes into its blocks, and 0 where
  // none are made.
  const uint64_t secret_;
};

}  // namespace harena::guard
