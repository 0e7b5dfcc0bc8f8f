// The detached scopes of one pool that have not ended, oldest first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "harena/base/clock.h"
#include "harena/base/fork_mutex.h"

namespace harena::scope_internal {

/// A place in a DetachedList; part of what is listed.
struct DetachedLink {
  DetachedLink* older = nullptr;
  DetachedLink* newer = nullptr;
  uint64_t since_ms = 0;
};

/// Thread rule: any thread. Lifetime rule: a link is removed before it ends.
class DetachedList {
 public:
  void Add(DetachedLink& link) noexcept {
    std::lock_guard lock(mutex_);
    link.since_ms = CoarseMillis();
    link.older = newest_;
    (newest_ == nullptr ? oldest_ : newest_->newer) = &link;
    newest_ = &link;
    ++count_;
  }

  void Remove(DetachedLink& link) noexcept {
    std::lock_guard lock(mutex_);
    (link.older == nullptr ? oldest_ : link.older->newer) = link.newer;
    (link.newer == nullptr ? newest_ : link.newer->older) = link.older;
    --count_;
  }

  struct Snapshot {
    uint64_t count = 0;
    uint64_t oldest_ms = 0;  ///< Age of the oldest.
  };
  Snapshot Look() const noexcept {
    std::lock_guard lock(mutex_);
    if (oldest_ == nullptr) return {};
    const uint64_t now_ms = CoarseMillis();
    return {.count = count_, .oldest_ms = now_ms - std::min(now_ms, oldest_->since_ms)};
  }

 private:
  mutable ForkMutex mutex_;
  DetachedLink* oldest_ = nullptr;
  DetachedLink* newest_ = nullptr;
  uint64_t count_ = 0;
};

}  // namespace harena::scope_internal
