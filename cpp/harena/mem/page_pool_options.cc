#include "harena/mem/page_pool_options.h"

#include <bit>

#include "harena/mem/internal/page_heap.h"
#include "harena/mem/region.h"

namespace harena {

std::optional<std::string> PagePoolOptions::Validate() const {
  if (!std::has_single_bit(page_bytes) || page_bytes < kPageBytesMin || page_bytes > kRegionBytes) {
    return "page_bytes is " + std::to_string(page_bytes) +
           "; it must be a power of two from 4096 to 2097152 (default 65536)";
  }
  if (!std::has_single_bit(block_bytes_max) || block_bytes_max < page_bytes) {
    return "block_bytes_max is " + std::to_string(block_bytes_max) +
           "; it must be a power of two and at least page_bytes (" + std::to_string(page_bytes) +
           ")";
  }
  const size_t largest_bytes = page_bytes << (mem_internal::kSizeClassesMax - 1);
  if (block_bytes_max > largest_bytes) {
    return "block_bytes_max is " + std::to_string(block_bytes_max) + "; with pages of " +
           std::to_string(page_bytes) + " bytes it may be at most " + std::to_string(largest_bytes);
  }
  if (decay_after.count() < 0) {
    return "decay_after is negative; use 0 to keep free memory for ever";
  }
  if (quarantine_for.count() < 0) {
    return "quarantine_for is negative; use quarantine_bytes_max = 0 to turn quarantine off";
  }
  if (guard_pages && huge_pages != HugePages::kOff) {
    return "guard_pages and huge_pages exclude each other: a guard page in each 2 MiB leaves no "
           "huge page; turn one of them off";
  }
  if (now_ms == nullptr) return "now_ms is null; leave it at its default";
  return std::nullopt;
}

}  // namespace harena
