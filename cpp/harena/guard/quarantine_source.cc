#include "harena/guard/quarantine_source.h"

#include <sys/mman.h>

#include "harena/base/poison.h"

namespace harena::guard {
namespace {

constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// Addresses at a multiple of kRegionBytes that nobody can touch yet.
void* Reserve(size_t bytes) noexcept {
  void* const mapping = mmap(nullptr, bytes + kRegionBytes, PROT_NONE, kAnonymous, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(mapping);
  const uintptr_t aligned = (begin + kRegionBytes - 1) & ~(kRegionBytes - 1);
  const size_t head_bytes = aligned - begin;
  if (head_bytes != 0) munmap(mapping, head_bytes);
  if (head_bytes != kRegionBytes) {
    munmap(reinterpret_cast<void*>(aligned + bytes), kRegionBytes - head_bytes);
  }
  return reinterpret_cast<void*>(aligned);
}

}  // namespace

QuarantineSource::QuarantineSource(size_t bytes_max, uint64_t keep_ms, uint64_t (*now_ms)())
    : bytes_max_(bytes_max),
      keep_ms_(keep_ms),
      now_ms_(now_ms),
      held_(std::make_unique<Held[]>(kBlocksMax)) {}

QuarantineSource::~QuarantineSource() {
  std::lock_guard lock(mutex_);
  while (first_ != next_) DropOldest();
}

void* QuarantineSource::Map(size_t bytes, size_t) noexcept {
  std::lock_guard lock(mutex_);
  void* data = TakeOver(bytes);
  if (data == nullptr) data = Reserve(Reserved(bytes));
  // Short of addresses or of mappings: what is only held for its faults makes room.
  while (data == nullptr && first_ != next_) {
    DropOldest();
    data = Reserve(Reserved(bytes));
  }
  if (data != nullptr && mprotect(data, bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(data, Reserved(bytes));
    data = nullptr;
  }
  if (data == nullptr) ++refusals_;
  return data;
}

// The oldest block's addresses, where its place is over anyway: four system calls less.
void* QuarantineSource::TakeOver(size_t bytes) noexcept {
  if (first_ == next_) return nullptr;
  Held& oldest = At(first_);
  const size_t oldest_bytes = oldest.bytes.load(std::memory_order_relaxed);
  const bool full = next_ - first_ == kBlocksMax || bytes_held_ + bytes > bytes_max_;
  if (!full || Reserved(oldest_bytes) != Reserved(bytes)) return nullptr;
  void* const data = reinterpret_cast<void*>(oldest.begin.load(std::memory_order_relaxed));
  oldest.bytes.store(0, std::memory_order_release);
  bytes_held_ -= oldest_bytes;
  ++first_;
  Unpoison(data, oldest_bytes);
  return data;
}

void QuarantineSource::Unmap(void* data, size_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  if (bytes > bytes_max_) {
    munmap(data, Reserved(bytes));
    return;
  }
  const uint64_t now_ms = now_ms_();
  DropBefore(now_ms);
  while (next_ - first_ == kBlocksMax || (first_ != next_ && bytes_held_ + bytes > bytes_max_)) {
    DropOldest();
  }
  Held& held = At(next_);
  if (const ScopeEnd* end = ScopeEndFrame::Current()) {
    held.end = *end;
  } else {
    held.end.Note("", 0);  // Given back before the scope's end, by its arena.
  }
  held.held_ms = now_ms;
  held.begin.store(reinterpret_cast<uintptr_t>(data), std::memory_order_relaxed);
  // Before it faults: from its first fault on, another thread is told what it touched.
  held.bytes.store(bytes, std::memory_order_release);
  // One call takes the physical memory and the right to touch it away.
  if (mmap(data, bytes, PROT_NONE, kAnonymous | MAP_FIXED, -1, 0) != data &&
      mprotect(data, bytes, PROT_NONE) != 0) {
    held.bytes.store(0, std::memory_order_release);
    munmap(data, Reserved(bytes));
    return;
  }
  ++next_;
  bytes_held_ += bytes;
  Poison(data, bytes);
}

void QuarantineSource::DropOldest() noexcept {
  Held& oldest = At(first_++);
  const size_t bytes = oldest.bytes.load(std::memory_order_relaxed);
  void* const data = reinterpret_cast<void*>(oldest.begin.load(std::memory_order_relaxed));
  oldest.bytes.store(0, std::memory_order_release);
  bytes_held_ -= bytes;
  Unpoison(data, bytes);
  munmap(data, Reserved(bytes));
}

size_t QuarantineSource::DropBefore(uint64_t now_ms) noexcept {
  const size_t before_bytes = bytes_held_;
  // A clock that jumped back makes everything look young: kept, as the other bounds hold.
  while (first_ != next_ && now_ms >= At(first_).held_ms &&
         now_ms - At(first_).held_ms >= keep_ms_) {
    DropOldest();
  }
  return before_bytes - bytes_held_;
}

size_t QuarantineSource::Decay() noexcept {
  std::lock_guard lock(mutex_);
  return DropBefore(now_ms_());
}

FaultyAddress QuarantineSource::Find(const void* address) const noexcept {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  for (size_t i = 0; i < kBlocksMax; ++i) {
    const size_t bytes = held_[i].bytes.load(std::memory_order_acquire);
    const uintptr_t begin = held_[i].begin.load(std::memory_order_relaxed);
    if (bytes == 0 || wanted < begin || wanted - begin >= Reserved(bytes)) continue;
    return {FaultyAddress::Kind::kEnded, wanted - begin, bytes, &held_[i].end};
  }
  return {};
}

void QuarantineSource::AddTo(QuarantineStats& stats) const noexcept {
  std::lock_guard lock(mutex_);
  stats.bytes_held += bytes_held_;
  stats.blocks_held += next_ - first_;
  stats.blocks_entered += next_;
  stats.blocks_left += first_;
  stats.refusals += refusals_;
}

}  // namespace harena::guard
