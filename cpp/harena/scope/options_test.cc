#include "harena/scope/options.h"

#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/scope/scope_pool.h"

namespace harena {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Mode, NamesGoThereAndBack) {
  for (const Mode mode : kModes) EXPECT_EQ(ParseMode(ToString(mode)), mode);
  EXPECT_EQ(ToString(Mode::kHeap), "heap");
  EXPECT_EQ(ToString(Mode::kArena), "arena");
  EXPECT_EQ(ToString(Mode::kPages), "pages");
  EXPECT_EQ(ToString(Mode::kReuse), "reuse");
  EXPECT_EQ(ToString(static_cast<Mode>(99)), "unknown");
}

TEST(Mode, OtherTextIsNoMode) {
  for (const char* text : {"", "Pages", "pages ", " pages", "page", "unknown", "kPages", "0"}) {
    EXPECT_EQ(ParseMode(text), std::nullopt) << text;
  }
}

TEST(Options, DefaultsAndOrdinaryChoicesAreFine) {
  EXPECT_EQ(Options().Validate(), std::nullopt);
  for (const Mode mode : kModes) EXPECT_EQ(Options{.mode = mode}.Validate(), std::nullopt);
  EXPECT_EQ((Options{.request_bytes_max = 64 * kKiB}).Validate(), std::nullopt);
  EXPECT_EQ((Options{.first_block_bytes = 1}).Validate(), std::nullopt);
  EXPECT_EQ((Options{.first_block_percentile = 100}).Validate(), std::nullopt);
  EXPECT_EQ((Options{.reuse_instances_max = 0}).Validate(), std::nullopt);
}

std::string Problem(const Options& options) { return options.Validate().value_or("nothing"); }

// The option, the value that was given, and what to do about it.
TEST(Options, MessagesNameOptionValueAndRemedy) {
  EXPECT_THAT(Problem({.request_bytes_max = 0}),
              AllOf(HasSubstr("request_bytes_max is 0"), HasSubstr("leave it out for no limit")));
  EXPECT_THAT(
      Problem({.request_bytes_max = 65'535}),
      AllOf(HasSubstr("request_bytes_max is 65535"), HasSubstr("at least"), HasSubstr("65536")));
  EXPECT_THAT(Problem({.mode = Mode::kHeap, .request_bytes_max = kMiB}),
              AllOf(HasSubstr("mode heap"), HasSubstr("request_bytes_max"),
                    HasSubstr("choose arena, pages or reuse")));
  EXPECT_THAT(Problem({.first_block_bytes = 64 * kMiB}),
              AllOf(HasSubstr("first_block_bytes is 67108864"), HasSubstr("33554432")));
  EXPECT_THAT(
      Problem({.first_block_bytes_max = 1000}),
      AllOf(HasSubstr("first_block_bytes_max is 1000"), HasSubstr("65536"), HasSubstr("33554432")));
  EXPECT_THAT(Problem({.first_block_bytes_max = 64 * kMiB}),
              HasSubstr("first_block_bytes_max is 67108864"));
  for (const double bad :
       {0.0, -5.0, 100.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(Problem({.first_block_percentile = bad}),
                AllOf(HasSubstr("first_block_percentile is "), HasSubstr("above 0 and up to 100")))
        << bad;
  }
  EXPECT_THAT(Problem({.first_block_percentile = 100.5}), HasSubstr("100.5"));
  for (const double bad : {1.0, 0.5, -1.0, std::nan("")}) {
    EXPECT_THAT(Problem({.reuse_growth_max = bad}),
                AllOf(HasSubstr("reuse_growth_max is "), HasSubstr("above 1")))
        << bad;
  }
  EXPECT_THAT(Problem({.reuse_bytes_max = 100}),
              AllOf(HasSubstr("reuse_bytes_max is 100"), HasSubstr("choose mode pages")));
}

TEST(Options, LimitsFollowThePagePoolThatIsUsed) {
  PagePoolOptions small = TestOptions();
  small.page_bytes = 4 * kKiB;
  small.block_bytes_max = 256 * kKiB;
  PagePool pool(small);
  Options options{
      .request_bytes_max = 4 * kKiB, .first_block_bytes_max = 256 * kKiB, .page_pool = &pool};
  EXPECT_EQ(options.Validate(), std::nullopt);
  EXPECT_EQ(&options.pool(), &pool);
  options.first_block_bytes_max = 512 * kKiB;
  EXPECT_THAT(Problem(options), HasSubstr("262144"));
  EXPECT_EQ(&Options().pool(), &PagePool::Default());
}

TEST(OptionsDeathTest, AScopePoolStopsOnBadOptionsWithTheMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ScopePool({.request_bytes_max = 0}), "request_bytes_max is 0");
}

}  // namespace
}  // namespace harena
