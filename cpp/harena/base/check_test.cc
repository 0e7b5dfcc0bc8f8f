#include "harena/base/check.h"

#include <gtest/gtest.h>

namespace harena {
namespace {

TEST(Check, PassesWhenTheConditionHolds) { HARENA_CHECK(1 + 1 == 2, "arithmetic"); }

TEST(CheckDeathTest, StopsAndSaysWhatToFix) {
  EXPECT_DEATH(HARENA_CHECK(1 + 1 == 3, "count again"),
               "harena: .*check_test.cc:[0-9]+: count again \\(1 \\+ 1 == 3\\)");
}

TEST(Check, EvaluatesItsConditionOnce) {
  int calls = 0;
  HARENA_CHECK(++calls == 1, "called once");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace harena
