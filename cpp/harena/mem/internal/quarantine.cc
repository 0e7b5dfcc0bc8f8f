#include "harena/mem/internal/quarantine.h"

#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <new>

namespace harena {

using mem_internal::Quarantine;
using mem_internal::Region;

namespace {

// By the index of their pools. Read by signal handlers.
constinit std::array<std::atomic<Quarantine*>, PagePool::kPoolsMax> quarantines{};

PagePoolOptions OptionsFor(const PagePoolOptions& options) {
  PagePoolOptions own = options;
  own.thread_cache_bytes_max = 0;
  own.huge_pages = HugePages::kOff;
  own.quarantine_bytes_max = 0;
  // Its blocks are guarded anyway, and never used again.
  own.guard_pages = own.wipe_on_release = own.check_free_lists = false;
  return own;
}

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

namespace mem_internal {

Quarantine::Quarantine(const PagePoolOptions& options)
    : source(options.quarantine_bytes_max, static_cast<uint64_t>(options.quarantine_for.count()),
             options.now_ms),
      pool(OptionsFor(options), source, PagePool::Recycling::kNone) {}

Quarantine::~Quarantine() {
  if (pool.index() < PagePool::kPoolsMax) quarantines[pool.index()].store(nullptr);
}

Quarantine* Quarantine::TryMake(const PagePoolOptions& options) noexcept {
  // The first backtrace loads the unwinder, which takes memory and time: not where a scope ends.
  void* frame = nullptr;
  backtrace(&frame, 1);
  try {
    auto made = std::make_unique<Quarantine>(options);
    return made->pool.index() < PagePool::kPoolsMax ? made.release() : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Quarantine::Publish() noexcept {
  quarantines[pool.index()].store(this, std::memory_order_release);
}

}  // namespace mem_internal

FaultyAddress ExplainAddress(const void* address) noexcept {
  const Region* const region = mem_internal::FindRegion(address);
  if (region != nullptr && region->guarded()) return ExplainGuard(*region, address);
  for (const auto& place : quarantines) {
    const Quarantine* const quarantine = place.load(std::memory_order_acquire);
    if (quarantine == nullptr) continue;
    if (region != nullptr && region->pool == &quarantine->pool) {
      const auto offset = static_cast<size_t>(static_cast<const char*>(address) - region->base);
      if (offset < region->bytes) return {};
      return {FaultyAddress::Kind::kBeyondEnd, offset, region->bytes, nullptr};
    }
    const FaultyAddress found = quarantine->source.Find(address);
    if (found.kind != FaultyAddress::Kind::kUnknown) return found;
  }
  return {};
}

PagePool* PagePool::Quarantine() noexcept {
  auto* there = quarantine_.load(std::memory_order_acquire);
  if (there == nullptr && options_.quarantine_bytes_max != 0 && recycled_class_count_ != 0) {
    auto* const made = mem_internal::Quarantine::TryMake(options_);
    if (made == nullptr) return nullptr;
    if (quarantine_.compare_exchange_strong(there, made)) {
      there = made;
      made->Publish();
    } else {
      delete made;  // Another thread was quicker, and nobody has seen this one.
    }
  }
  return there == nullptr ? nullptr : &there->pool;
}

void PagePool::EndQuarantine() noexcept { delete quarantine_.exchange(nullptr); }

void PagePool::DecayQuarantine() noexcept {
  auto* const quarantine = quarantine_.load(std::memory_order_acquire);
  if (quarantine != nullptr) quarantine->source.Decay();
}

QuarantineStats PagePool::quarantine_stats() const noexcept {
  QuarantineStats stats;
  const auto* const quarantine = quarantine_.load(std::memory_order_acquire);
  if (quarantine == nullptr) return stats;
  quarantine->source.AddTo(stats);
  stats.bytes_in_use = quarantine->pool.stats().bytes_in_use;
  return stats;
}

}  // namespace harena
