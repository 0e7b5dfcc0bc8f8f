#include "harena/guard/quarantine_pool.h"

#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <new>

// Whoever explains faults has hardened pools too, which may cause them.
#include "harena/guard/hardening.h"

namespace harena {

using guard::QuarantinePool;

namespace {

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

namespace guard {

QuarantinePool::QuarantinePool(const PagePoolOptions& options)
    : source(options.quarantine_bytes_max, static_cast<uint64_t>(options.quarantine_for.count()),
             options.now_ms),
      pool(OptionsFor(options), source) {}

QuarantinePool::~QuarantinePool() {
  if (pool.index() < PagePool::kPoolsMax) quarantines[pool.index()].store(nullptr);
}

std::unique_ptr<QuarantinePool> QuarantinePool::TryMake(const PagePoolOptions& options) noexcept {
  // The first backtrace loads the unwinder, which takes memory and time: not where a scope ends.
  void* frame = nullptr;
  backtrace(&frame, 1);
  try {
    auto made = std::make_unique<QuarantinePool>(options);
    if (made->pool.index() < PagePool::kPoolsMax) return made;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return nullptr;
}

void QuarantinePool::Publish() noexcept {
  quarantines[pool.index()].store(this, std::memory_order_release);
}

}  // namespace guard

FaultyAddress ExplainAddress(const void* address) noexcept {
  const Region* const region = FindRegion(address);
  if (region != nullptr && region->guarded()) return ExplainGuard(*region, address);
  for (const auto& place : quarantines) {
    const QuarantinePool* const quarantine = place.load(std::memory_order_acquire);
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

}  // namespace harena
