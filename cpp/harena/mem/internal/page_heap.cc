#include "harena/mem/internal/page_heap.h"

#include <algorithm>
#include <new>

#include "harena/base/check.h"
#include "harena/base/poison.h"

namespace harena::mem_internal {

PageHeap::PageHeap(const PagePoolOptions& options, PageSourceRef source, PagePool* owner,
                   PageGuard* guard) noexcept
    : options_(options),
      retained_bytes_max_(options.retained_bytes_max),
      source_(source),
      owner_(owner),
      guard_(guard) {}

PageHeap::~PageHeap() {
  Decay(UINT64_MAX);
  // Decay() leaves regions mapped whose memory the source would not take back.
  for (SizeClass& size_class : classes_) {
    for (const FreeBlock& block : size_class.resident) MarkCold(block.data);
  }
  HARENA_CHECK(stats_.bytes_mapped == 0 || !complete_,
               "a page pool was destroyed with blocks outside it");
}

size_t PageHeap::Take(uint32_t size_class, void** out, size_t wanted) noexcept {
  std::lock_guard lock(mutex_);
  SizeClass& free = classes_[size_class];
  size_t taken = 0;
  while (taken < wanted && !free.resident.empty()) {
    out[taken++] = free.resident.back().data;
    free.resident.pop_back();
  }
  stats_.bytes_retained -= taken * BlockBytes(size_class);
  if (taken != 0) return taken;
  if (free.cold_regions == nullptr) {
    Region* region = MapRegion(size_class, BlockBytes(size_class));
    if (region == nullptr) return 0;
    Link(region);
  }
  out[0] = TakeCold(free);
  return 1;
}

void PageHeap::Put(uint32_t size_class, void* const* blocks, size_t count,
                   uint64_t used_ms) noexcept {
  size_t excess_bytes = 0;
  {
    std::lock_guard lock(mutex_);
    Insert(size_class, blocks, count, used_ms);
    const size_t kept_bytes_max = retained_bytes_max();
    if (stats_.bytes_retained > kept_bytes_max)
      excess_bytes = stats_.bytes_retained - kept_bytes_max;
  }
  while (excess_bytes != 0) {
    const uint32_t victim = OldestClass(size_class);
    const size_t blocks_max = (excess_bytes + BlockBytes(victim) - 1) / BlockBytes(victim);
    const size_t given_bytes = Evict(victim, UINT64_MAX, std::min(blocks_max, kEvictBatch));
    if (given_bytes == 0) break;  // The source refuses, or others were quicker.
    excess_bytes -= std::min(excess_bytes, given_bytes);
  }
}

// Keeps `resident` oldest first: what is swept out of an idle thread's cache is older than what
// came back meanwhile. MapRegion() made the room, so this cannot fail.
void PageHeap::Insert(uint32_t size_class, void* const* blocks, size_t count,
                      uint64_t used_ms) noexcept {
  std::vector<FreeBlock>& resident = classes_[size_class].resident;
  auto place = resident.end();
  if (!resident.empty() && resident.back().used_ms > used_ms) {
    place = std::ranges::upper_bound(resident, used_ms, {}, &FreeBlock::used_ms);
  }
  place = resident.insert(place, count, FreeBlock{nullptr, used_ms});
  for (size_t i = 0; i < count; ++i) place[static_cast<ptrdiff_t>(i)].data = blocks[i];
  stats_.bytes_retained += count * BlockBytes(size_class);
}

// The class whose coldest block is the longest unused; `preferred` when it is no younger.
uint32_t PageHeap::OldestClass(uint32_t preferred) const noexcept {
  std::lock_guard lock(mutex_);
  const auto used_ms = [this](uint32_t size_class) {
    const std::vector<FreeBlock>& resident = classes_[size_class].resident;
    return resident.empty() ? UINT64_MAX : resident.front().used_ms;
  };
  uint32_t oldest = preferred;
  for (uint32_t i = 0; i < kSizeClassesMax; ++i) {
    if (used_ms(i) < used_ms(oldest)) oldest = i;
  }
  return oldest;
}

void* PageHeap::TakeUnpooled(size_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  Region* region = MapRegion(kUnpooledClass, bytes);
  return region == nullptr ? nullptr : region->BlockAt(0);
}

void PageHeap::PutUnpooled(Region* region) noexcept {
  {
    std::lock_guard lock(mutex_);
    ForgetRegion(region);
  }
  // Without the lock: the system takes milliseconds for a few hundred MiB.
  UnmapRegion(region);
}

size_t PageHeap::Decay(uint64_t before_ms) noexcept {
  size_t given_bytes = 0;
  for (uint32_t i = 0; i < kSizeClassesMax; ++i) given_bytes += Evict(i, before_ms, SIZE_MAX);
  return given_bytes;
}

void PageHeap::KeepFreeWithinBudget() noexcept {
  constexpr uint64_t kLongMs = 1000;
  if (options_.budget == nullptr || !options_.budget->limited() || IsWithinBudget()) return;
  const uint64_t now_ms = options_.now_ms();
  Decay(now_ms > kLongMs ? now_ms - kLongMs : 0);
  if (!IsWithinBudget()) Decay(UINT64_MAX);
}

HARENA_NOINLINE bool PageHeap::IsWithinBudget() const noexcept {
  const size_t bytes_retained = stats().bytes_retained;
  const size_t bytes_max = options_.budget->bytes_max();
  return bytes_retained <= bytes_max && options_.budget->bytes_used() <= bytes_max - bytes_retained;
}

// Gives back up to `blocks_max` of the longest unused blocks. The system calls run without the
// lock: meanwhile the victims are in no list, so nobody else can have them.
size_t PageHeap::Evict(uint32_t size_class, uint64_t before_ms, size_t blocks_max) noexcept {
  SizeClass& free = classes_[size_class];
  const size_t block_bytes = BlockBytes(size_class);
  size_t given_bytes = 0;
  while (blocks_max != 0) {
    std::array<FreeBlock, kEvictBatch> victims;
    size_t count = 0;
    {
      std::lock_guard lock(mutex_);
      while (count < std::min({kEvictBatch, blocks_max, free.resident.size()}) &&
             free.resident[count].used_ms < before_ms) {
        victims[count] = free.resident[count];
        ++count;
      }
      free.resident.erase(free.resident.begin(),
                          free.resident.begin() + static_cast<ptrdiff_t>(count));
      stats_.bytes_retained -= count * block_bytes;
    }
    if (count == 0) break;
    std::array<bool, kEvictBatch> given;
    for (size_t i = 0; i < count; ++i) given[i] = source_.Decommit(victims[i].data, block_bytes);
    std::lock_guard lock(mutex_);
    bool refused = false;
    for (size_t i = 0; i < count; ++i) {
      if (given[i]) {
        stats_.bytes_decommitted += block_bytes;
        given_bytes += block_bytes;
        MarkCold(victims[i].data);
      } else {
        refused = true;
        Insert(size_class, &victims[i].data, 1, victims[i].used_ms);
      }
    }
    if (refused) break;  // Asking again at once would only spin.
    blocks_max -= count;
  }
  return given_bytes;
}

// How many bytes to map, and where the blocks lie in them.
void PageHeap::LayOut(Region& region, size_t block_bytes) const noexcept {
  const bool pooled = region.size_class != kUnpooledClass;
  const size_t gap_bytes = guard_ != nullptr ? guard_->gap_bytes() : 0;
  region.bytes = pooled ? std::max(kRegionBytes, block_bytes) : block_bytes;
  if (gap_bytes != 0) {
    region.bytes = (block_bytes + 2 * gap_bytes + kRegionBytes - 1) & ~(kRegionBytes - 1);
  }
  region.first_offset = gap_bytes;
  region.block_bytes = block_bytes;
  region.stride_bytes = block_bytes + gap_bytes;
  region.block_count =
      pooled ? static_cast<uint32_t>((region.bytes - gap_bytes) / region.stride_bytes) : 1;
}

Region* PageHeap::MapRegion(uint32_t size_class, size_t block_bytes) noexcept {
  Region* region = new (std::nothrow) Region;
  if (region != nullptr) {
    region->pool = owner_;
    region->size_class = size_class;
    LayOut(*region, block_bytes);
    region->base = static_cast<char*>(source_.Map(region->bytes, kRegionBytes));
  }
  if (region != nullptr && region->base != nullptr) {
    const size_t block_count = region->block_count;
    bool ready = !region->guarded() || guard_->Fence(*region);
    if (size_class != kUnpooledClass) {
      // Room for every block now, so that returning one can never fail.
      std::vector<FreeBlock>& resident = classes_[size_class].resident;
      const size_t wanted = classes_[size_class].block_count + block_count;
      try {
        if (resident.capacity() < wanted)
          resident.reserve(std::max(wanted, 2 * resident.capacity()));
      } catch (const std::bad_alloc&) {
        ready = false;
      }
      for (size_t i = 0; i < block_count; ++i) region->cold.set(i);
      region->cold_count = region->block_count;
    }
    if (ready && AddToRegionMap(region)) {
      if (size_class != kUnpooledClass) {
        Poison(region->base, region->bytes);  // No block of it is handed out yet.
        classes_[size_class].block_count += block_count;
        stats_.bytes_cold += region->blocks_bytes();
      }
      if (options_.huge_pages == HugePages::kAdvise) {
        region->huge_advised = source_.AdviseHuge(region->base, region->bytes);
        if (region->huge_advised) stats_.bytes_huge_advised += region->blocks_bytes();
      }
      stats_.bytes_mapped += region->blocks_bytes();
      ++stats_.regions_mapped;
      return region;
    }
    if (region->guarded()) guard_->Unfence(*region);
    source_.Unmap(region->base, region->bytes);
  }
  delete region;
  ++stats_.refusals;
  return nullptr;
}

void PageHeap::ForgetRegion(Region* region) noexcept {
  RemoveFromRegionMap(region);
  stats_.bytes_mapped -= region->blocks_bytes();
  if (region->huge_advised) stats_.bytes_huge_advised -= region->blocks_bytes();
  ++stats_.regions_unmapped;
}

// REQUIRES: ForgetRegion(region) was called.
void PageHeap::UnmapRegion(Region* region) noexcept {
  // The next owner of these addresses knows nothing of our poison.
  Unpoison(region->base, region->bytes);
  if (region->guarded()) guard_->Unfence(*region);
  source_.Unmap(region->base, region->bytes);
  delete region;
}

void* PageHeap::TakeCold(SizeClass& size_class) noexcept {
  Region* region = size_class.cold_regions;
  const size_t index = region->cold._Find_first();
  region->cold.reset(index);
  if (--region->cold_count == 0) Unlink(region);
  stats_.bytes_cold -= region->block_bytes;
  void* const block = region->BlockAt(index);
  if (guard_ != nullptr) guard_->Prepare(block);
  return block;
}

void PageHeap::MarkCold(void* block) noexcept {
  Region* region = FindRegion(block);
  region->cold.set(region->IndexOf(block));
  stats_.bytes_cold += region->block_bytes;
  if (region->cold_count++ == 0) Link(region);
  if (region->cold_count == region->block_count) {
    Unlink(region);
    classes_[region->size_class].block_count -= region->block_count;
    stats_.bytes_cold -= region->blocks_bytes();
    ForgetRegion(region);
    UnmapRegion(region);
  }
}

void PageHeap::Link(Region* region) noexcept {
  Region*& head = classes_[region->size_class].cold_regions;
  region->next = head;
  region->link = &head;
  if (head != nullptr) head->link = &region->next;
  head = region;
}

void PageHeap::Unlink(Region* region) noexcept {
  *region->link = region->next;
  if (region->next != nullptr) region->next->link = region->link;
}

PagePoolStats PageHeap::stats() const noexcept {
  std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace harena::mem_internal
