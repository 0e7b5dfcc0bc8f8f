// A page pool's quarantine: a pool of its own on a source that keeps what is unmapped.
#pragma once

#include <memory>

#include "harena/guard/quarantine_source.h"
#include "harena/mem/page_pool.h"

namespace harena::guard {

/// Thread rule: any thread. Lifetime rule: ends with the pool it was made for; every block must be
/// back.
struct QuarantinePool {
  explicit QuarantinePool(const PagePoolOptions& options);
  ~QuarantinePool();
  QuarantinePool(const QuarantinePool&) = delete;
  QuarantinePool& operator=(const QuarantinePool&) = delete;

  /// Null when there is no memory, or no place among PagePool::kPoolsMax.
  static std::unique_ptr<QuarantinePool> TryMake(const PagePoolOptions& options) noexcept;
  /// Lets ExplainAddress() find it, from any thread: only when nobody ends it but its pool.
  void Publish() noexcept;

  /// No block of it is handed out twice.
  struct Pool final : PagePool {
    Pool(const PagePoolOptions& options, QuarantineSource& source)
        : PagePool(options, source, Recycling::kNone) {}
  };

  QuarantineSource source;
  Pool pool;
};

}  // namespace harena::guard
