#include "harena/mem/region.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace harena {
namespace {

// The map never looks at the memory, so addresses where nothing is mapped serve.
char* At(uintptr_t region_index) {
  return reinterpret_cast<char*>((uintptr_t{0x3a} << 40) + region_index * kRegionBytes);
}

Region MakeRegion(char* base, size_t bytes) {
  Region region;
  region.base = base;
  region.bytes = bytes;
  return region;
}

TEST(RegionMap, FindsEveryAddressOfSeveralRegionsAndNoOther) {
  Region one = MakeRegion(At(10), kRegionBytes);
  Region two = MakeRegion(At(11), kRegionBytes);
  Region far = MakeRegion(At(1'000'000), kRegionBytes);  // in another leaf
  for (Region* region : {&one, &two, &far}) ASSERT_TRUE(AddToRegionMap(region));
  for (Region* region : {&one, &two, &far}) {
    EXPECT_EQ(FindRegion(region->base), region);
    EXPECT_EQ(FindRegion(region->base + 1), region);
    EXPECT_EQ(FindRegion(region->base + kRegionBytes / 2 + 3), region);
    EXPECT_EQ(FindRegion(region->base + kRegionBytes - 1), region);
  }
  EXPECT_EQ(FindRegion(one.base - 1), nullptr);
  EXPECT_EQ(FindRegion(two.base + kRegionBytes), nullptr);
  EXPECT_EQ(FindRegion(far.base - 1), nullptr);

  RemoveFromRegionMap(&one);
  EXPECT_EQ(FindRegion(one.base), nullptr);
  EXPECT_EQ(FindRegion(one.base + kRegionBytes - 1), nullptr);
  EXPECT_EQ(FindRegion(two.base), &two);
  RemoveFromRegionMap(&two);
  RemoveFromRegionMap(&far);
  EXPECT_EQ(FindRegion(two.base), nullptr);
  EXPECT_EQ(FindRegion(far.base), nullptr);
}

TEST(RegionMap, FindsTheInsideOfALargeRegionAcrossLeaves) {
  const size_t regions_per_leaf = size_t{1} << 13;
  // From the last entry of one leaf into the first ones of the next.
  Region large = MakeRegion(At(3 * regions_per_leaf - 1), 5 * kRegionBytes);
  ASSERT_TRUE(AddToRegionMap(&large));
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(FindRegion(large.base + i * kRegionBytes + 17), &large);
  EXPECT_EQ(FindRegion(large.base - 1), nullptr);
  EXPECT_EQ(FindRegion(large.base + 5 * kRegionBytes), nullptr);
  RemoveFromRegionMap(&large);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(FindRegion(large.base + i * kRegionBytes), nullptr);
}

TEST(RegionMap, ForeignAddressesBelongToNobody) {
  int on_the_stack = 0;
  static int in_the_image = 0;
  const auto on_the_heap = std::make_unique<int>(0);
  EXPECT_EQ(FindRegion(&on_the_stack), nullptr);
  EXPECT_EQ(FindRegion(&in_the_image), nullptr);
  EXPECT_EQ(FindRegion(on_the_heap.get()), nullptr);
  EXPECT_EQ(FindRegion(nullptr), nullptr);
  EXPECT_EQ(FindRegion(reinterpret_cast<void*>(uintptr_t{1} << 47)), nullptr);
  EXPECT_EQ(FindRegion(reinterpret_cast<void*>(UINTPTR_MAX)), nullptr);
}

TEST(RegionMap, RefusesAddressesBeyondItsTableAndLeavesNoTrace) {
  const uintptr_t end = uintptr_t{1} << 47;
  Region region = MakeRegion(reinterpret_cast<char*>(end - kRegionBytes), 2 * kRegionBytes);
  EXPECT_FALSE(AddToRegionMap(&region));
  EXPECT_EQ(FindRegion(region.base), nullptr);
}

}  // namespace
}  // namespace harena
