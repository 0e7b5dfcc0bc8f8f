// A program that only includes what it needs for hardening, and calls nothing of it.
#include <cstring>

#include <gtest/gtest.h>

#include "harena/guard/hardening.h"
#include "harena/mem/page_pool.h"

namespace harena {
namespace {

TEST(LinkedByItsHeader, OptionsHardenAPool) {
  PagePool pool(PagePoolOptions::Hardened());
  ASSERT_NE(pool.guard(), nullptr);
  Block block = pool.TryAllocate(1);
  ASSERT_TRUE(block);
  std::memset(block.data, 0x5e, block.bytes);
  pool.Free(block.data, block.bytes);
  block = pool.TryAllocate(1);
  EXPECT_EQ(*static_cast<char*>(block.data), 0);
  pool.Free(block.data, block.bytes);
}

// Before any other static object of the program, if the linker likes.
PagePool early(PagePoolOptions::Hardened());

TEST(LinkedByItsHeader, OptionsHardenAPoolThatIsMadeBeforeMain) {
  EXPECT_NE(early.guard(), nullptr);
}

}  // namespace
}  // namespace harena
