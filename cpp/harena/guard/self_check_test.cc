#include "harena/guard/self_check.h"

#include <sys/mman.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/base/compiler.h"
#include "harena/guard/quarantine.h"
#include "harena/mem/test_pool.h"

namespace harena {
namespace {

TEST(CheckMemory, EverythingThatIsOnWorks) {
  PagePool pool(TestOptions());
  const MemoryCheck check = CheckMemory(pool);
  EXPECT_TRUE(check.ok()) << check.ToText();
  EXPECT_TRUE(check.guards);
  EXPECT_TRUE(check.explains);
  EXPECT_EQ(check.poisons, HARENA_ASAN != 0);
  EXPECT_THAT(check.ToText(), testing::HasSubstr("quarantine works"));
  EXPECT_EQ(guard::QuarantineStatsOf(pool).blocks_held, 1u);
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(CheckMemory, QuarantineThatIsOffIsNoFailure) {
  PagePoolOptions options = TestOptions();
  options.quarantine_bytes_max = 0;
  PagePool pool(options);
  const MemoryCheck check = CheckMemory(pool);
  EXPECT_TRUE(check.ok()) << check.ToText();
  EXPECT_THAT(check.ToText(), testing::HasSubstr("quarantine off"));
}

TEST(CheckMemory, QuarantineThatNoScopeUsesIsNotMade) {
  PagePool pool(TestOptions());
  const MemoryCheck check = CheckMemory(pool, CheckQuarantine::kNo);
  EXPECT_TRUE(check.ok()) << check.ToText();
  EXPECT_FALSE(check.quarantine);
  EXPECT_EQ(guard::QuarantineStatsOf(pool).blocks_entered, 0u);
}

TEST(CheckMemory, TriesWhatOfHardeningIsOn) {
  for (int parts = 0; parts < 8; ++parts) {
    PagePoolOptions options = TestOptions();
    options.guard_pages = (parts & 1) != 0;
    options.wipe_on_release = (parts & 2) != 0;
    options.check_free_lists = (parts & 4) != 0;
    PagePool pool(options);
    const MemoryCheck check = CheckMemory(pool);
    EXPECT_TRUE(check.ok()) << check.ToText();
    EXPECT_EQ(check.guard_pages.works, options.guard_pages);
    EXPECT_EQ(check.wipe_on_release.works, options.wipe_on_release);
    EXPECT_EQ(check.check_free_lists.works, options.check_free_lists);
    const std::string text = check.ToText();
    EXPECT_EQ(text.find("guard pages") != std::string::npos, options.guard_pages) << text;
    EXPECT_EQ(text.find("wiped on release") != std::string::npos, options.wipe_on_release) << text;
    EXPECT_EQ(text.find("free lists checked") != std::string::npos, options.check_free_lists)
        << text;
    EXPECT_EQ(text.find("hardening off") != std::string::npos, parts == 0) << text;
  }
}

// Guards that somebody took away are missed.
TEST(CheckMemory, SaysThatAGuardIsGone) {
  PagePoolOptions options = TestOptions();
  options.guard_pages = true;
  PagePool pool(options);
  const Block block = pool.TryAllocate(1);
  char* const behind = static_cast<char*>(block.data) + block.bytes;
  ASSERT_EQ(mprotect(behind, 4096, PROT_READ | PROT_WRITE), 0);
  pool.Free(block.data, block.bytes);
  const MemoryCheck check = CheckMemory(pool);
  EXPECT_FALSE(check.ok());
  EXPECT_THAT(check.ToText(), testing::HasSubstr("hardening guard pages FAILED"));
}

// The check can fail: with a limit of one byte no block stays.
TEST(CheckMemory, SaysWhatDoesNotWork) {
  PagePoolOptions options = TestOptions();
  options.quarantine_bytes_max = 1;
  PagePool pool(options);
  const MemoryCheck check = CheckMemory(pool);
  EXPECT_FALSE(check.ok());
  EXPECT_THAT(check.ToText(), testing::HasSubstr("quarantine FAILED"));
}

}  // namespace
}  // namespace harena
