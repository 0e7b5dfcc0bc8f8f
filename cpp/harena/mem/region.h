// A region is what a pool maps at once: 2 MiB cut into blocks of one size, or one larger block.
// The map from an address to its region lets a block be returned by anybody, on any thread, with
// nothing but its address: the owner is found from the page itself.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace harena {

class PagePool;

inline constexpr size_t kRegionShift = 21;
inline constexpr size_t kRegionBytes = size_t{1} << kRegionShift;
inline constexpr size_t kPageBytesMin = 4096;
inline constexpr size_t kBlocksPerRegionMax = kRegionBytes / kPageBytesMin;
/// The size class of a block that is mapped and unmapped on its own, because it is too large to
/// keep.
inline constexpr uint32_t kUnpooledClass = UINT32_MAX;

struct Region {
  char* base = nullptr;
  size_t bytes = 0;
  PagePool* pool = nullptr;
  uint32_t size_class = 0;
  uint32_t block_count = 0;
  bool huge_advised = false;  // the source said yes
  /// Where its blocks lie: the first one so far behind `base`, the next one a stride behind that.
  /// Where they are guarded, nobody can touch what is not theirs; elsewhere one begins where the
  /// one before ends.
  size_t first_offset = 0;
  size_t block_bytes = 0;
  size_t stride_bytes = 0;
  /// Blocks that are free and have no physical memory (never touched, or decommitted).
  std::bitset<kBlocksPerRegionMax> cold;
  uint32_t cold_count = 0;
  /// Blocks that are handed out, one bit each, touched atomically. Kept where
  /// PagePoolOptions::check_free_lists is set.
  std::array<uint64_t, kBlocksPerRegionMax / 64> in_use{};
  /// In the heap's list of regions of this class that have cold blocks: the next one, and what
  /// points to this one.
  Region* next = nullptr;
  Region** link = nullptr;

  bool guarded() const noexcept { return stride_bytes != block_bytes; }
  size_t blocks_bytes() const noexcept { return block_count * block_bytes; }
  char* BlockAt(size_t index) const noexcept { return base + first_offset + index * stride_bytes; }
  /// REQUIRES: `block` is one of its blocks.
  size_t IndexOf(const void* block) const noexcept {
    return (OffsetOf(block) - first_offset) / stride_bytes;
  }
  /// Whether a block begins there. REQUIRES: FindRegion(address) is this region.
  bool IsBlock(const void* address) const noexcept {
    const size_t offset = OffsetOf(address);
    return offset >= first_offset && (offset - first_offset) % stride_bytes == 0 &&
           (offset - first_offset) / stride_bytes < block_count;
  }
  size_t OffsetOf(const void* address) const noexcept {
    return static_cast<size_t>(static_cast<const char*>(address) - base);
  }
};

/// Registers every 2 MiB of `region`; false when the map itself could not get memory.
/// Thread rule: any thread; the pool that owns `region` calls it once.
bool AddToRegionMap(Region* region) noexcept;

/// REQUIRES: AddToRegionMap(region) returned true, and no block of it is in use.
void RemoveFromRegionMap(const Region* region) noexcept;

/// The region that holds `address`, or nullptr when it belongs to no pool. Wait-free.
/// Lifetime rule: the result is valid while the caller owns a block of that region.
Region* FindRegion(const void* address) noexcept;

}  // namespace harena
