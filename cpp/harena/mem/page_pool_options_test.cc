#include "harena/mem/page_pool_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/mem/page_pool.h"

namespace harena {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

TEST(PagePoolOptions, DefaultsAreValid) { EXPECT_EQ(PagePoolOptions{}.Validate(), std::nullopt); }

TEST(PagePoolOptions, SaysWhatIsWrongAndHowToPutItRight) {
  EXPECT_THAT(PagePoolOptions{.page_bytes = 65535}.Validate(),
              Optional(AllOf(HasSubstr("page_bytes is 65535"), HasSubstr("power of two"))));
  EXPECT_THAT(PagePoolOptions{.page_bytes = 2048}.Validate(), Optional(HasSubstr("from 4096")));
  EXPECT_THAT(PagePoolOptions{.page_bytes = size_t{4} << 20}.Validate(),
              Optional(HasSubstr("to 2097152")));
  EXPECT_THAT(PagePoolOptions{.page_bytes = 0}.Validate(), Optional(HasSubstr("page_bytes is 0")));
  EXPECT_THAT(PagePoolOptions{.block_bytes_max = 4096}.Validate(),
              Optional(HasSubstr("at least page_bytes (65536)")));
  EXPECT_THAT(PagePoolOptions{.block_bytes_max = 100'000}.Validate(),
              Optional(HasSubstr("block_bytes_max is 100000")));
  EXPECT_THAT(
      (PagePoolOptions{.page_bytes = 4096, .block_bytes_max = size_t{256} << 20}.Validate()),
      Optional(HasSubstr("at most 134217728")));
  EXPECT_THAT(PagePoolOptions{.decay_after = std::chrono::milliseconds(-1)}.Validate(),
              Optional(HasSubstr("use 0 to keep free memory for ever")));
  EXPECT_THAT(PagePoolOptions{.now_ms = nullptr}.Validate(), Optional(HasSubstr("now_ms")));
}

TEST(PagePoolOptions, TheExtremesThatAreAllowedWork) {
  const PagePoolOptions smallest{.page_bytes = 4096, .block_bytes_max = 4096};
  const PagePoolOptions widest{.page_bytes = 4096, .block_bytes_max = size_t{4096} << 15};
  const PagePoolOptions largest{.page_bytes = size_t{2} << 20, .block_bytes_max = size_t{2} << 20};
  for (const PagePoolOptions& options : {smallest, widest, largest}) {
    ASSERT_EQ(options.Validate(), std::nullopt);
    PagePool pool(options);
    const Block block = pool.TryAllocate(options.block_bytes_max);
    ASSERT_TRUE(block);
    EXPECT_EQ(block.bytes, options.block_bytes_max);
    pool.Free(block.data, block.bytes);
  }
}

TEST(PagePoolOptionsDeathTest, APoolStopsOnOptionsThatAreNotValid) {
  EXPECT_DEATH(PagePool(PagePoolOptions{.page_bytes = 1000}), "page_bytes is 1000; it must be");
}

// This program is linked without harena::guard. That must be no silent loss of protection.
TEST(PagePoolOptionsDeathTest, HardeningThatIsNotLinkedStops) {
  EXPECT_DEATH(PagePool(PagePoolOptions{.guard_pages = true}),
               "harena::guard; link it, and include");
  EXPECT_DEATH(PagePool(PagePoolOptions{.wipe_on_release = true}),
               "harena::guard; link it, and include");
  EXPECT_DEATH(PagePool(PagePoolOptions{.check_free_lists = true}),
               "harena::guard; link it, and include");
  EXPECT_EQ(PagePool(PagePoolOptions{}).guard(), nullptr);
}

}  // namespace
}  // namespace harena
