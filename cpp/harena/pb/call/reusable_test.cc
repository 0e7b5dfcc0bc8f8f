// Which message types can be kept, and what is said about the others.
#include "harena/pb/call/reusable.h"

#include <string>

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include "harena/pb/call/test_reusable.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/shapes2.pb.h"
#include "harena/test/wide.pb.h"

namespace harena::pb {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace test = harena::test;

template <typename T>
std::string Why() {
  return WhyNotReusable(T::default_instance()).value_or("reusable");
}

bool DropsWithoutPresence() { return DropsInClear(&test::DroppedWithoutPresence::mutable_leaf); }

TEST(Reusable, PresenceMakesAMessageReusable) {
  EXPECT_EQ(Why<test::KeptScalars>(), "reusable");
  EXPECT_EQ(Why<test::KeptWithPresence>(), "reusable");
  EXPECT_EQ(Why<test::WideList>(), "reusable");
  EXPECT_EQ(Why<test::Shapes>(), "reusable");
}

TEST(Reusable, RecursionEnds) { EXPECT_EQ(Why<test::KeptRecursive>(), "reusable"); }

TEST(Reusable, Proto2HasPresenceEverywhere) {
  EXPECT_EQ(Why<test::Shapes2>(), "reusable");
  EXPECT_EQ(Why<google::protobuf::FileDescriptorSet>(), "reusable");
}

TEST(Reusable, ASingularMessageWithoutPresenceIsNamed) {
  if (!DropsWithoutPresence()) GTEST_SKIP() << "this protobuf keeps them";
  EXPECT_THAT(Why<test::DroppedWithoutPresence>(),
              AllOf(HasSubstr("field harena.test.DroppedWithoutPresence.leaf"),
                    HasSubstr("declare it `optional`")));
}

TEST(Reusable, ItIsFoundBelowRepeatedAndOptionalMessages) {
  if (!DropsWithoutPresence()) GTEST_SKIP() << "this protobuf keeps them";
  EXPECT_THAT(Why<test::DroppedBelow>(), HasSubstr("harena.test.DroppedWithoutPresence.leaf"));
}

TEST(Reusable, AMessageInAOneofIsNamedWithoutAWrongRemedy) {
  if (!DropsWithoutPresence()) GTEST_SKIP() << "this protobuf keeps them";
  EXPECT_THAT(Why<test::DroppedInOneof>(),
              AllOf(HasSubstr("harena.test.DroppedInOneof.leaf"), HasSubstr("oneof"),
                    testing::Not(HasSubstr("declare it"))));
  EXPECT_THAT(Why<test::DroppedInOneof2>(), HasSubstr("harena.test.DroppedInOneof2.shapes"));
}

// Map entries are never kept; the growth rule watches them.
TEST(Reusable, WhatIsOnlyInMapsDoesNotCount) {
  EXPECT_EQ(Why<test::DroppedOnlyInMap>(), "reusable");
}

}  // namespace
}  // namespace harena::pb
