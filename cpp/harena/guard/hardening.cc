#include "harena/guard/hardening.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "harena/base/check.h"
#include "harena/base/poison.h"
#include "harena/base/wipe.h"
#include "harena/mem/page_guard.h"

namespace harena::guard {
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

// `wiped`: makes the block's first 4 KiB as Wipe() leaves them.
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

}  // namespace

PagePool& HardenedPool() {
  static auto* pool = new PagePool(PagePoolOptions::Hardened());
  return *pool;
}

Hardening::Hardening(const PagePoolOptions& options, const PagePool* pool) noexcept
    : pool_(pool),
      guards_(options.guard_pages),
      wipes_(options.wipe_on_release),
      checks_(options.check_free_lists),
      secret_(checks_ ? MakeSecret() : 0) {}

bool Hardening::Fence(const Region& region) noexcept {
  char* gap = region.base;
  for (size_t i = 0; i < region.block_count; ++i) {
    char* const block = region.BlockAt(i);
    if (mprotect(gap, static_cast<size_t>(block - gap), PROT_NONE) != 0) return false;
    gap = block + region.block_bytes;
  }
  return mprotect(gap, static_cast<size_t>(region.base + region.bytes - gap), PROT_NONE) == 0;
}

void Hardening::Unfence(const Region& region) noexcept {
  static_cast<void>(mprotect(region.base, region.bytes, PROT_READ | PROT_WRITE));
}

void Hardening::Prepare(void* block) noexcept {
  if (checks_) MarkFree(block, secret_, wipes_);
}

void Hardening::Returned(void* block, Region& region) noexcept {
  if (checks_) {
    const Bit bit = InUse(region, block);
    HARENA_CHECK((bit.word.fetch_and(~bit.mask, std::memory_order_relaxed) & bit.mask) != 0,
                 kGivenBackTwice);
  }
  if (wipes_) Wipe(block, region.block_bytes);
  if (checks_) MarkFree(block, secret_, /*wiped=*/false);
}

void Hardening::HandedOut(void* block, uint32_t size_class) noexcept {
  if (!checks_) return;
  Region* const region = FindRegion(block);
  HARENA_CHECK(region != nullptr && region->pool == pool_ && region->size_class == size_class &&
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
  HARENA_CHECK(mark->here == expected.here && mark->inverse == expected.inverse &&
                   IsZero(mark + 1, checked_bytes - sizeof(*mark)),
               "somebody wrote to a free block of a page pool: a pointer was used after the end of "
               "its scope; quarantine_one_in = 1 or AddressSanitizer finds whose");
  *mark = {};  // It tells the secret.
}

}  // namespace harena::guard
