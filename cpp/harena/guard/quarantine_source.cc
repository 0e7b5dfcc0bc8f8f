#include "harena/guard/quarantine_source.h"

#include <sys/mman.h>

#include "harena/base/poison.h"

namespace harena::guard {
namespace {

constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// Addresses that nobody can touch yet.
void* Reserve(size_t bytes) noexcept {
  return SystemPageSource::Instance().Map(bytes, kRegionBytes, PROT_NONE);
}

}  // namespace

QuarantineSource::QuarantineSource(const PagePoolOptions& options)
    : bytes_max_(options.quarantine_bytes_max),
      keep_ms_(static_cast<uint64_t>(options.quarantine_for.count())),
      now_ms_(options.now_ms),
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
  const size_t oldest_bytes = At(first_).bytes.load(std::memory_order_relaxed);
  const bool full = next_ - first_ == kBlocksMax || bytes_held_ + bytes > bytes_max_;
  if (!full || Reserved(oldest_bytes) != Reserved(bytes)) return nullptr;
  return LetGoOfOldest();
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

void* QuarantineSource::LetGoOfOldest() noexcept {
  Held& oldest = At(first_++);
  const size_t bytes = oldest.bytes.load(std::memory_order_relaxed);
  void* const data = reinterpret_cast<void*>(oldest.begin.load(std::memory_order_relaxed));
  oldest.bytes.store(0, std::memory_order_release);
  bytes_held_ -= bytes;
  Unpoison(data, bytes);
  return data;
}

void QuarantineSource::DropOldest() noexcept {
  const size_t bytes = At(first_).bytes.load(std::memory_order_relaxed);
  munmap(LetGoOfOldest(), Reserved(bytes));
}

void QuarantineSource::DropBefore(uint64_t now_ms) noexcept {
  // A clock that jumped back makes everything look young: kept, as the other bounds hold.
  while (first_ != next_ && now_ms >= At(first_).held_ms &&
         now_ms - At(first_).held_ms >= keep_ms_) {
    DropOldest();
  }
}

void QuarantineSource::Decay() noexcept {
  std::lock_guard lock(mutex_);
  DropBefore(now_ms_());
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

QuarantineStats QuarantineSource::stats() const noexcept {
  std::lock_guard lock(mutex_);
  return {.bytes_held = bytes_held_,
          .blocks_held = next_ - first_,
          .blocks_entered = next_,
          .blocks_left = first_,
          .refusals = refusals_};
}

}  // namespace harena::guard
