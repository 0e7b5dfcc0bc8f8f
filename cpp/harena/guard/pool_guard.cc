// The guard of a page pool: its hardening and its quarantine.
#include <execinfo.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <new>

#include "harena/base/check.h"
#include "harena/base/poison.h"
#include "harena/guard/hardening.h"
#include "harena/guard/quarantine.h"
#include "harena/guard/quarantine_source.h"
#include "harena/mem/page_guard.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/region.h"

namespace harena {
namespace guard {
namespace {

// How much of a free block is looked at: what a scope and its first messages lie in.
constexpr size_t kCheckedBytes = 4096;

struct FreeMark {
  uint64_t here;
  uint64_t inverse;

  static FreeMark Of(const void* block, uint64_t secret) noexcept {
    const uint64_t here = reinterpret_cast<uintptr_t>(block) ^ secret;
    return {here, ~here};
  }
};

struct Bit {
  std::atomic_ref<uint64_t> word;
  uint64_t mask;
};

Bit InUse(Region& region, const void* block) noexcept {
  const size_t index = region.IndexOf(block);
  return {std::atomic_ref(region.in_use[index / 64]), uint64_t{1} << (index % 64)};
}

bool IsZero(const void* data, size_t bytes) noexcept {
  const char* const begin = static_cast<const char*>(data);
  return bytes == 0 || (begin[0] == 0 && memcmp(begin, begin + 1, bytes - 1) == 0);
}

// `wiped`: makes the block's first 4 KiB as a wipe leaves them.
void MarkFree(void* block, uint64_t secret, bool wiped) noexcept {
  const size_t bytes = wiped ? kCheckedBytes : sizeof(FreeMark);
  const bool poisoned = IsPoisoned(block);
  Unpoison(block, bytes);
  if (wiped) memset(block, 0, kCheckedBytes);
  *static_cast<FreeMark*>(block) = FreeMark::Of(block, secret);
  if (poisoned) Poison(block, bytes);
}

// Never 0.
uint64_t MakeSecret() noexcept {
  uint64_t secret = 0;
  if (getrandom(&secret, sizeof(secret), GRND_NONBLOCK) != sizeof(secret)) {
    // So early that the system has no randomness yet: the clock, and where the stack lies.
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    secret = (static_cast<uint64_t>(now.tv_nsec) ^ reinterpret_cast<uintptr_t>(&now)) *
             0x9e3779b97f4a7c15;
  }
  return secret | 1;
}

struct QuarantinePool;
// By the index of their pools. Read by signal handlers.
constinit std::array<std::atomic<QuarantinePool*>, PagePool::kPoolsMax> quarantines{};

PagePoolOptions OptionsFor(const PagePoolOptions& options) {
  PagePoolOptions own = options;
  own.thread_cache_bytes_max = 0;
  own.huge_pages = HugePages::kOff;
  own.quarantine_bytes_max = 0;
  // Its blocks are guarded anyway, and never used again.
  own.guard_pages = own.wipe_on_release = own.check_free_lists = false;
  return own;
}

// A page pool's quarantine: a pool of its own on a source that keeps what is unmapped. Lifetime
// rule: ends with the pool it was made for; every block must be back.
struct QuarantinePool {
  explicit QuarantinePool(const PagePoolOptions& options)
      : source(options), pool(OptionsFor(options), source) {}
  ~QuarantinePool() {
    if (pool.index() < PagePool::kPoolsMax) quarantines[pool.index()].store(nullptr);
  }

  // No block of it is handed out twice.
  struct Pool final : PagePool {
    Pool(const PagePoolOptions& options, QuarantineSource& source)
        : PagePool(options, source, Recycling::kNone) {}
  };

  QuarantineSource source;
  Pool pool;
};

// The parts of hardening and of quarantine that a pool's options ask for; each does nothing where
// they do not. Thread rule: any thread.
class PoolGuard final : public PageGuard {
 public:
  PoolGuard(const PagePoolOptions& options, const PagePool* pool) noexcept
      : pool_(pool),
        guards_(options.guard_pages),
        wipes_(options.wipe_on_release),
        checks_(options.check_free_lists),
        secret_(checks_ ? MakeSecret() : 0) {}
  ~PoolGuard() override { delete quarantine_.load(); }

  size_t gap_bytes() const noexcept override { return guards_ ? kPageBytesMin : 0; }

  // The system refuses where it bounds the mappings of a process.
  bool Fence(const Region& region) noexcept override {
    char* gap = region.base;
    for (size_t i = 0; i < region.block_count; ++i) {
      char* const block = region.BlockAt(i);
      if (mprotect(gap, static_cast<size_t>(block - gap), PROT_NONE) != 0) return false;
      gap = block + region.block_bytes;
    }
    return mprotect(gap, static_cast<size_t>(region.base + region.bytes - gap), PROT_NONE) == 0;
  }

  void Unfence(const Region& region) noexcept override {
    static_cast<void>(mprotect(region.base, region.bytes, PROT_READ | PROT_WRITE));
  }

  void Prepare(void* block) noexcept override {
    if (checks_) MarkFree(block, secret_, wipes_);
  }

  // Stops the process when `block` did not count as in use.
  void Returned(void* block, Region& region) noexcept override {
    if (checks_) {
      const Bit bit = InUse(region, block);
      HARENA_CHECK((bit.word.fetch_and(~bit.mask, std::memory_order_relaxed) & bit.mask) != 0,
                   kGivenBackTwice);
    }
    if (wipes_) explicit_bzero(block, region.block_bytes);
    if (checks_) MarkFree(block, secret_, /*wiped=*/false);
  }

  // Stops the process unless `block` is a free block of the pool, of that class, which nobody
  // wrote to. From now on it counts as in use.
  void HandedOut(void* block, uint32_t size_class) noexcept override {
    if (!checks_) return;
    Region* const region = FindRegion(block);
    HARENA_CHECK(
        region != nullptr && region->pool == pool_ && region->size_class == size_class &&
            region->IsBlock(block),
        "a page pool's list of free blocks was overwritten: what it names is no block; look "
        "for a write through a bad pointer, with AddressSanitizer");
    const Bit bit = InUse(*region, block);
    HARENA_CHECK((bit.word.fetch_or(bit.mask, std::memory_order_relaxed) & bit.mask) == 0,
                 "a page pool's list of free blocks was overwritten: what it names is in use; look "
                 "for a write through a bad pointer, with AddressSanitizer");
    auto* const mark = static_cast<FreeMark*>(block);
    const FreeMark expected = FreeMark::Of(block, secret_);
    const size_t checked_bytes =
        wipes_ ? std::min(region->block_bytes, kCheckedBytes) : sizeof(*mark);
    HARENA_CHECK(
        mark->here == expected.here && mark->inverse == expected.inverse &&
            IsZero(mark + 1, checked_bytes - sizeof(*mark)),
        "somebody wrote to a free block of a page pool: a pointer was used after the end of "
        "its scope; quarantine_one_in = 1 or AddressSanitizer finds whose");
    *mark = {};  // It tells the secret.
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
  // Null where the options turn it off, or there is no memory, or no place among
  // PagePool::kPoolsMax.
  QuarantinePool* MakeQuarantine() noexcept {
    if (QuarantinePool* const there = quarantine()) return there;
    if (pool_->options().quarantine_bytes_max == 0) return nullptr;
    // The first backtrace loads the unwinder, which takes memory and time: not where a scope ends.
    void* frame = nullptr;
    backtrace(&frame, 1);
    std::unique_ptr<QuarantinePool> made;
    try {
      made = std::make_unique<QuarantinePool>(pool_->options());
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    if (made->pool.index() == PagePool::kPoolsMax) return nullptr;
    QuarantinePool* there = nullptr;
    // Otherwise another thread was quicker, and nobody has seen this one.
    if (!quarantine_.compare_exchange_strong(there, made.get())) return there;
    quarantines[made->pool.index()].store(made.get(), std::memory_order_release);
    return made.release();
  }

 private:
  const PagePool* const pool_;
  const bool guards_;
  const bool wipes_;
  const bool checks_;
  // What marks of this pool are made with: unknown to whoever writes into its blocks, and 0 where
  // none are made.
  const uint64_t secret_;
  std::atomic<QuarantinePool*> quarantine_{nullptr};
  // What LockForFork() locked: until UnlockAfterFork() a quarantine may be made, as no lock guards
  // that.
  QuarantinePool* locked_ = nullptr;
};

// MakePageGuard() alone makes guards.
PoolGuard* GuardOf(const PagePool& pool) noexcept { return static_cast<PoolGuard*>(pool.guard()); }

// For an address in a region with guards: how far behind which block's end it is.
FaultyAddress ExplainGuard(const Region& region, const void* address) noexcept {
  const size_t offset = region.OffsetOf(address);
  if (offset < region.first_offset) return {FaultyAddress::Kind::kGuard, 0, 0, nullptr};
  const size_t behind = offset - region.first_offset;
  const size_t index = std::min<size_t>(behind / region.stride_bytes, region.block_count - 1);
  const size_t in_block = behind - index * region.stride_bytes;
  if (in_block < region.block_bytes) return {};
  return {FaultyAddress::Kind::kGuard, in_block, region.block_bytes, nullptr};
}

}  // namespace

PagePool& HardenedPool() {
  static auto* pool = new PagePool(PagePoolOptions::Hardened());
  return *pool;
}

PagePool* QuarantineOf(PagePool& pool) noexcept {
  PoolGuard* const guard = GuardOf(pool);
  QuarantinePool* const quarantine = guard != nullptr ? guard->MakeQuarantine() : nullptr;
  return quarantine != nullptr ? &quarantine->pool : nullptr;
}

QuarantineStats QuarantineStatsOf(const PagePool& pool) noexcept {
  const PoolGuard* const guard = GuardOf(pool);
  const QuarantinePool* const quarantine = guard != nullptr ? guard->quarantine() : nullptr;
  if (quarantine == nullptr) return {};
  QuarantineStats stats = quarantine->source.stats();
  stats.bytes_in_use = quarantine->pool.stats().bytes_in_use;
  return stats;
}

}  // namespace guard

FaultyAddress ExplainAddress(const void* address) noexcept {
  const Region* const region = FindRegion(address);
  if (region != nullptr && region->guarded()) return guard::ExplainGuard(*region, address);
  for (const auto& place : guard::quarantines) {
    const auto* const quarantine = place.load(std::memory_order_acquire);
    if (quarantine == nullptr) continue;
    if (region != nullptr && region->pool == &quarantine->pool) {
      const size_t offset = region->OffsetOf(address);
      if (offset < region->bytes) return {};
      return {FaultyAddress::Kind::kBeyondEnd, offset, region->bytes, nullptr};
    }
    const FaultyAddress found = quarantine->source.Find(address);
    if (found.kind != FaultyAddress::Kind::kUnknown) return found;
  }
  return {};
}

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
