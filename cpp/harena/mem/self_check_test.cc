#include "harena/mem/self_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/base/compiler.h"
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
  EXPECT_EQ(pool.quarantine_stats().blocks_held, 1u);
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
