// A page pool's quarantine: a pool of its own on a source that keeps what is unmapped.
#pragma once

#include "harena/mem/internal/quarantine_source.h"
#include "harena/mem/page_pool.h"

namespace harena::mem_internal {

/// Thread rule: any thread. Lifetime rule: ends with the pool it was made for; every block must be
/// back.
struct Quarantine {
  explicit Quarantine(const PagePoolOptions& options);
  ~Quarantine();
  Quarantine(const Quarantine&) = delete;
  Quarantine& operator=(const Quarantine&) = delete;

  /// Null when there is no memory, or no place among PagePool::kPoolsMax.
  static Quarantine* TryMake(const PagePoolOptions& options) noexcept;
  /// Lets ExplainAddress() find it, from any thread: only when nobody ends it but its pool.
  void Publish() noexcept;

  QuarantineSource source;
  PagePool pool;
};

}  // namespace harena::mem_internal
