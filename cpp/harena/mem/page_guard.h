// What a page pool asks of the library that watches over its blocks, harena::guard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "harena/mem/region.h"

namespace harena {

struct PagePoolOptions;

/// Watches over one pool's blocks: it fences them, wipes them, looks for misuse, and holds the
/// pool's quarantine. A pool calls it on its slow paths only.
/// Thread rule: any thread. Lifetime rule: the pool owns it, and all blocks are back at its end.
class PageGuard {
 public:
  virtual ~PageGuard() = default;

  /// Bytes before, between and behind the blocks of a region that nobody may touch; 0 for none.
  virtual size_t gap_bytes() const noexcept = 0;
  /// Makes these bytes fault when they are touched. False when the system refuses: then some of
  /// them may fault already.
  virtual bool Fence(const Region& region) noexcept = 0;
  /// Undoes that, for the source that gets the memory back.
  virtual void Unfence(const Region& region) noexcept = 0;

  /// A block without physical memory is about to be used: it joins the free ones.
  virtual void Prepare(void* block) noexcept = 0;
  /// The pool's lists name `block` as a free one of that class, and it is about to be handed out.
  virtual void HandedOut(void* block, uint32_t size_class) noexcept = 0;
  /// A block of `region` came back, and joins the free ones.
  virtual void Returned(void* block, Region& region) noexcept = 0;

  /// Time has passed: lets go of what was held for long enough.
  virtual void Decay() noexcept = 0;
  /// Around fork(), on the thread that forks: no other thread is inside meanwhile.
  virtual void LockForFork() noexcept = 0;
  virtual void UnlockAfterFork() noexcept = 0;
};

/// The guard that `options` ask for, made for `pool`; null when they ask for none. harena::guard
/// defines it, pools refer to it weakly: where that library is not linked no pool has a guard, and
/// options for hardening stop the process.
std::unique_ptr<PageGuard> MakePageGuard(const PagePoolOptions& options, const PagePool* pool);

/// Why the process stops when a block comes back that is free already.
inline constexpr char kGivenBackTwice[] =
    "PagePool::Free: this block is free already: it was given back twice; look for a second owner, "
    "or an owner that was copied";

}  // namespace harena
