#include "harena/mem/internal/hardening.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "harena/base/check.h"
#include "harena/base/poison.h"

namespace harena::mem_internal {
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

}  // namespace

bool GuardGaps(const Region& region) noexcept {
  char* gap = region.base;
  for (size_t i = 0; i < region.block_count; ++i) {
    char* const block = region.BlockAt(i);
    if (mprotect(gap, static_cast<size_t>(block - gap), PROT_NONE) != 0) return false;
    gap = block + region.block_bytes;
  }
  return mprotect(gap, static_cast<size_t>(region.base + region.bytes - gap), PROT_NONE) == 0;
}

void UnguardGaps(const Region& region) noexcept {
  static_cast<void>(mprotect(region.base, region.bytes, PROT_READ | PROT_WRITE));
}

uint64_t MakeMarkSecret() noexcept {
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

void MarkFree(void* block, uint64_t secret, bool wiped) noexcept {
  const size_t bytes = wiped ? kCheckedBytes : sizeof(FreeMark);
  const bool poisoned = IsPoisoned(block);
  Unpoison(block, bytes);
  if (wiped) memset(block, 0, kCheckedBytes);
  *static_cast<FreeMark*>(block) = FreeMark::Of(block, secret);
  if (poisoned) Poison(block, bytes);
}

void Wipe(void* block, size_t bytes) noexcept { explicit_bzero(block, bytes); }

void NoteFreed(Region& region, const void* block) noexcept {
  const Bit bit = InUse(region, block);
  HARENA_CHECK((bit.word.fetch_and(~bit.mask, std::memory_order_relaxed) & bit.mask) != 0,
               kGivenBackTwice);
}

void CheckHandedOut(const PagePool* pool, uint32_t size_class, void* block, uint64_t secret,
                    bool wiped) noexcept {
  Region* const region = FindRegion(block);
  HARENA_CHECK(region != nullptr && region->pool == pool && region->size_class == size_class &&
                   region->IsBlock(block),
               "a page pool's list of free blocks was overwritten: what it names is no block; look "
               "for a write through a bad pointer, with AddressSanitizer");
  const Bit bit = InUse(*region, block);
  HARENA_CHECK((bit.word.fetch_or(bit.mask, std::memory_order_relaxed) & bit.mask) == 0,
               "a page pool's list of free blocks was overwritten: what it names is in use; look "
               "for a write through a bad pointer, with AddressSanitizer");
  auto* const mark = static_cast<FreeMark*>(block);
  const FreeMark expected = FreeMark::Of(block, secret);
  const size_t checked_bytes = wiped ? std::min(region->block_bytes, kCheckedBytes) : sizeof(*mark);
  HARENA_CHECK(mark->here == expected.here && mark->inverse == expected.inverse &&
                   IsZero(mark + 1, checked_bytes - sizeof(*mark)),
               "somebody wrote to a free block of a page pool: a pointer was used after the end of "
               "its scope; quarantine_one_in = 1 or AddressSanitizer finds whose");
  *mark = {};  // It tells the secret.
}

}  // namespace harena::mem_internal
