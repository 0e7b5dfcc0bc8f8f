#include "harena/mem/page_source.h"

#include <sys/mman.h>

#include <cstdint>

namespace harena {

void* SystemPageSource::Map(size_t bytes, size_t alignment) noexcept {
  return Map(bytes, alignment, PROT_READ | PROT_WRITE);
}

void* SystemPageSource::Map(size_t bytes, size_t alignment, int protection) noexcept {
  if (bytes > SIZE_MAX - alignment) return nullptr;
  // mmap aligns to 4 KiB only: ask for one alignment more and give the ends back.
  const size_t padded_bytes = bytes + alignment;
  void* mapping =
      mmap(nullptr, padded_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(mapping);
  const uintptr_t aligned = (begin + alignment - 1) & ~(alignment - 1);
  const size_t head_bytes = aligned - begin;
  const size_t tail_bytes = padded_bytes - head_bytes - bytes;
  if (head_bytes != 0) munmap(mapping, head_bytes);
  if (tail_bytes != 0) munmap(reinterpret_cast<void*>(aligned + bytes), tail_bytes);
  return reinterpret_cast<void*>(aligned);
}

void SystemPageSource::Unmap(void* data, size_t bytes) noexcept { munmap(data, bytes); }

bool SystemPageSource::Decommit(void* data, size_t bytes) noexcept {
  // MADV_FREE would be cheaper but leaves the resident set as it is until the system is short of
  // memory, and operators judge a service by its resident set.
  return madvise(data, bytes, MADV_DONTNEED) == 0;
}

bool SystemPageSource::AdviseHuge(void* data, size_t bytes) noexcept {
  return madvise(data, bytes, MADV_HUGEPAGE) == 0;
}

SystemPageSource& SystemPageSource::Instance() noexcept {
  static SystemPageSource source;
  return source;
}

}  // namespace harena
