#include "harena/pb/wire/recent.h"

#include <array>
#include <new>
#include <vector>

#include <gtest/gtest.h>

namespace harena::pb::wire {
namespace {

using Numbers = Recent<int, int>;

class RecentTest : public testing::Test {
 protected:
  // The key's own value, and how often it was looked for.
  int Ask(const int& key) {
    return recent_.Get(&key, [&] {
      ++found_;
      return key;
    });
  }

  Numbers recent_;
  int found_ = 0;
};

TEST_F(RecentTest, TwoKeysOfEachPlaceAreFoundOnce) {
  std::array<int, 400> keys;
  std::array<int, Numbers::kPlaces> at_place{};
  std::vector<const int*> chosen;
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<int>(i) + 1;
    if (++at_place[Numbers::PlaceOf(&keys[i])] <= 2) chosen.push_back(&keys[i]);
  }
  EXPECT_EQ(chosen.size(), 2 * Numbers::kPlaces);
  for (int round = 0; round < 100; ++round) {
    for (const int* key : chosen) ASSERT_EQ(Ask(*key), *key);
  }
  EXPECT_EQ(found_, static_cast<int>(chosen.size()));
}

TEST_F(RecentTest, KeysOfOnePlaceAreNeverTakenForEachOther) {
  std::array<int, 200> keys;
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i) + 1;
  for (int round = 0; round < 3; ++round) {
    for (const int& key : keys) ASSERT_EQ(Ask(key), key);
  }
  EXPECT_GT(found_, 200 + 2 * 100);
}

TEST_F(RecentTest, WhatCannotBeFoundIsLookedForAgain) {
  const int key = 7;
  EXPECT_THROW(recent_.Get(&key, []() -> int { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(Ask(key), 7);
  EXPECT_EQ(found_, 1);
}

}  // namespace
}  // namespace harena::pb::wire
