// The inside of a pool, for tests that no public function serves. Not installed.
#pragma once

#include <cstddef>

#include "harena/mem/internal/thread_cache.h"
#include "harena/mem/page_pool.h"

namespace harena {

struct PagePoolPeer {
  /// The block that the newest thread's cache of the smallest ones hands out next.
  static void*& NewestInCache(PagePool& pool) {
    auto& stack = pool.caches_->stacks[0];
    return stack.blocks[stack.count - 1];
  }

  /// PagePoolStats::bytes_in_use without a lock, so also while the pool itself asks for memory.
  /// REQUIRES: no other thread uses the pool.
  static size_t BytesInUse(const PagePool& pool) {
    size_t allocated_bytes = pool.allocated_bytes_.load();
    size_t freed_bytes = pool.freed_bytes_.load();
    for (const auto* cache = pool.caches_; cache != nullptr; cache = cache->next) {
      allocated_bytes += cache->allocated_bytes;
      freed_bytes += cache->freed_bytes;
    }
    return allocated_bytes - freed_bytes;
  }
};

}  // namespace harena
