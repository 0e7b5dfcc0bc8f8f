#include "harena/mem/region.h"

#include <sys/mman.h>

#include <atomic>

#include "harena/base/poison.h"

namespace harena {
namespace {

// A two-level table over the 47 bits of a user address, as tcmalloc's pagemap: 2^13 leaves of 2^13
// entries, one entry per 2 MiB. The root is 64 KiB of untouched zeroes; a leaf covers 16 GiB.
constexpr size_t kLeafBits = 13;
constexpr size_t kRootBits = 47 - kRegionShift - kLeafBits;

struct Leaf {
  std::atomic<Region*> entries[size_t{1} << kLeafBits];
};

std::atomic<Leaf*> root[size_t{1} << kRootBits];

std::atomic<Region*>* Entry(uintptr_t key, bool create) noexcept {
  const size_t root_index = key >> kLeafBits;
  if (root_index >= (size_t{1} << kRootBits)) return nullptr;
  Leaf* leaf = root[root_index].load(std::memory_order_acquire);
  if (leaf == nullptr) {
    if (!create) return nullptr;
    // Straight from the system: an allocator that Harena may be used inside of is no option.
    void* mapping = mmap(nullptr, sizeof(Leaf), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return nullptr;
    Leaf* fresh = static_cast<Leaf*>(mapping);
    if (root[root_index].compare_exchange_strong(leaf, fresh, std::memory_order_acq_rel)) {
      leaf = fresh;
      MarkAsRoot(fresh, sizeof(Leaf));
    } else {
      munmap(mapping, sizeof(Leaf));
    }
  }
  return &leaf->entries[key & ((size_t{1} << kLeafBits) - 1)];
}

uintptr_t Key(const void* address) noexcept {
  return reinterpret_cast<uintptr_t>(address) >> kRegionShift;
}

}  // namespace

bool AddToRegionMap(Region* region) noexcept {
  const uintptr_t first = Key(region->base);
  const uintptr_t end = Key(region->base + region->bytes - 1) + 1;
  for (uintptr_t key = first; key != end; ++key) {
    std::atomic<Region*>* entry = Entry(key, /*create=*/true);
    if (entry == nullptr) {
      for (uintptr_t undo = first; undo != key; ++undo) Entry(undo, false)->store(nullptr);
      return false;
    }
    entry->store(region, std::memory_order_release);
  }
  return true;
}

void RemoveFromRegionMap(const Region* region) noexcept {
  const uintptr_t end = Key(region->base + region->bytes - 1) + 1;
  for (uintptr_t key = Key(region->base); key != end; ++key) {
    Entry(key, false)->store(nullptr, std::memory_order_release);
  }
}

Region* FindRegion(const void* address) noexcept {
  std::atomic<Region*>* entry = Entry(Key(address), /*create=*/false);
  return entry == nullptr ? nullptr : entry->load(std::memory_order_acquire);
}

}  // namespace harena
