// The guard of a page pool: its hardening and its quarantine.
#include <atomic>
#include <memory>

#include "harena/guard/hardening.h"
#include "harena/guard/quarantine.h"
#include "harena/guard/quarantine_pool.h"
#include "harena/mem/page_guard.h"
#include "harena/mem/page_pool.h"

namespace harena {
namespace guard {
namespace {

class PoolGuard final : public PageGuard {
 public:
  PoolGuard(const PagePoolOptions& options, const PagePool* pool) noexcept
      : pool_(pool), hardening_(options, pool) {}
  ~PoolGuard() override { delete quarantine_.load(); }

  size_t gap_bytes() const noexcept override { return hardening_.gap_bytes(); }
  bool Fence(const Region& region) noexcept override { return hardening_.Fence(region); }
  void Unfence(const Region& region) noexcept override { hardening_.Unfence(region); }
  void Prepare(void* block) noexcept override { hardening_.Prepare(block); }
  void HandedOut(void* block, uint32_t size_class) noexcept override {
    hardening_.HandedOut(block, size_class);
  }
  void Returned(void* block, Region& region) noexcept override {
    hardening_.Returned(block, region);
  }

  void Decay() noexcept override {
    if (QuarantinePool* const there = quarantine()) there->source.Decay();
  }
  void LockForFork() noexcept override {
    locked_ = quarantine();
    if (locked_ != nullptr) locked_->source.LockForFork();
  }
  void UnlockAfterFork() noexcept override {
    if (locked_ != nullptr) locked_->source.UnlockAfterFork();
  }

  // Null where there is none yet.
  QuarantinePool* quarantine() const noexcept {
    return quarantine_.load(std::memory_order_acquire);
  }
  // Null where the options turn it off, or there is no memory or place for it.
  QuarantinePool* MakeQuarantine() noexcept {
    if (QuarantinePool* const there = quarantine()) return there;
    if (pool_->options().quarantine_bytes_max == 0) return nullptr;
    auto made = QuarantinePool::TryMake(pool_->options());
    if (made == nullptr) return nullptr;
    QuarantinePool* there = nullptr;
    // Otherwise another thread was quicker, and nobody has seen this one.
    if (!quarantine_.compare_exchange_strong(there, made.get())) return there;
    made->Publish();
    return made.release();
  }

 private:
  const PagePool* const pool_;
  Hardening hardening_;
  std::atomic<QuarantinePool*> quarantine_{nullptr};
  // What LockForFork() locked: until UnlockAfterFork() a quarantine may be made, as no lock guards
  // that.
  QuarantinePool* locked_ = nullptr;
};

// MakePageGuard() alone makes guards.
PoolGuard* GuardOf(const PagePool& pool) noexcept { return static_cast<PoolGuard*>(pool.guard()); }

}  // namespace

PagePool* QuarantineOf(PagePool& pool) noexcept {
  PoolGuard* const guard = GuardOf(pool);
  QuarantinePool* const quarantine = guard != nullptr ? guard->MakeQuarantine() : nullptr;
  return quarantine != nullptr ? &quarantine->pool : nullptr;
}

QuarantineStats QuarantineStatsOf(const PagePool& pool) noexcept {
  QuarantineStats stats;
  const PoolGuard* const guard = GuardOf(pool);
  const QuarantinePool* const quarantine = guard != nullptr ? guard->quarantine() : nullptr;
  if (quarantine == nullptr) return stats;
  quarantine->source.AddTo(stats);
  stats.bytes_in_use = quarantine->pool.stats().bytes_in_use;
  return stats;
}

}  // namespace guard

std::unique_ptr<PageGuard> MakePageGuard(const PagePoolOptions& options, const PagePool* pool) {
  if (!options.hardened() && options.quarantine_bytes_max == 0) return nullptr;
  return std::make_unique<guard::PoolGuard>(options, pool);
}

PagePool& PagePool::Hardened() { return guard::HardenedPool(); }

PagePool* PagePool::Quarantine() noexcept { return guard::QuarantineOf(*this); }

QuarantineStats PagePool::quarantine_stats() const noexcept {
  return guard::QuarantineStatsOf(*this);
}

}  // namespace harena
