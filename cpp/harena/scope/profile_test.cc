// The streaming estimate against exact percentiles.
#include "harena/scope/profile.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace harena {
namespace {

struct Distribution {
  std::string name;
  std::function<double(std::mt19937_64&)> draw;
};

const std::vector<Distribution>& Distributions() {
  static const std::vector<Distribution> all = {
      {"constant", [](auto&) { return 100'000.0; }},
      {"power_of_two", [](auto&) { return 65'536.0; }},
      {"uniform", [](auto& random) { return std::uniform_real_distribution(1.0, 1e6)(random); }},
      {"exponential", [](auto& random) { return std::exponential_distribution(1e-5)(random); }},
      {"lognormal", [](auto& random) { return std::lognormal_distribution(11.0, 1.5)(random); }},
      {"two_humps",
       [](auto& random) {
         const bool large = std::bernoulli_distribution(0.3)(random);
         return std::normal_distribution(large ? 4e6 : 2e4, large ? 1e5 : 1e3)(random);
       }},
      {"tiny", [](auto& random) { return std::uniform_real_distribution(0.0, 9.0)(random); }},
  };
  return all;
}

class ProfileTest : public testing::TestWithParam<Distribution> {};

// Below kWindow records nothing is aged, so the estimate has the documented bound: never less than
// the exact percentile, never more than half as much again.
TEST_P(ProfileTest, OverstatesByAtMostHalf) {
  for (const size_t count : {1u, 2u, 10u, 500u, 1023u}) {
    std::mt19937_64 random(count);
    Profile profile;
    std::vector<size_t> exact;
    for (size_t i = 0; i < count; ++i) {
      exact.push_back(static_cast<size_t>(std::max(0.0, GetParam().draw(random))));
      profile.Record(exact.back());
    }
    std::sort(exact.begin(), exact.end());
    for (const double percent : {1.0, 25.0, 50.0, 75.0, 90.0, 99.0, 100.0}) {
      const auto rank =
          static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(count) - 1e-9));
      const auto wanted =
          static_cast<double>(std::max<size_t>(exact[std::max<size_t>(rank, 1) - 1], 1));
      const auto got = static_cast<double>(profile.Percentile(percent));
      EXPECT_GE(got, wanted) << percent << " % of " << count;
      EXPECT_LE(got, wanted * 1.5) << percent << " % of " << count;
    }
  }
}

// With ageing the newest records weigh at most twice as much, which moves ranks, not sizes.
TEST_P(ProfileTest, StaysCloseOverManyRecords) {
  std::mt19937_64 random(7);
  Profile profile;
  std::vector<size_t> exact;
  for (int i = 0; i < 20'000; ++i) {
    exact.push_back(static_cast<size_t>(std::max(0.0, GetParam().draw(random))));
    profile.Record(exact.back());
  }
  std::sort(exact.begin(), exact.end());
  const auto at = [&](double percent) {
    const auto rank = static_cast<size_t>(percent / 100 * static_cast<double>(exact.size()));
    return static_cast<double>(std::max<size_t>(exact[std::min(rank, exact.size() - 1)], 1));
  };
  for (const double percent : {50.0, 75.0, 90.0}) {
    const auto got = static_cast<double>(profile.Percentile(percent));
    EXPECT_GE(got, at(percent - 5)) << percent;
    EXPECT_LE(got, at(percent + 5) * 1.5) << percent;
  }
  EXPECT_EQ(profile.records(), 20'000u);
}

INSTANTIATE_TEST_SUITE_P(All, ProfileTest, testing::ValuesIn(Distributions()),
                         [](const auto& info) { return info.param.name; });

TEST(Profile, NothingRecordedIsZero) {
  const Profile profile;
  EXPECT_EQ(profile.Percentile(50), 0u);
  EXPECT_EQ(profile.Percentile(100), 0u);
  EXPECT_EQ(profile.records(), 0u);
}

TEST(Profile, ExtremeSizesAreCounted) {
  Profile profile;
  profile.Record(0);
  EXPECT_EQ(profile.Percentile(100), 1u);
  profile.Record(SIZE_MAX);
  EXPECT_GE(profile.Percentile(100), size_t{1} << 47);
  EXPECT_EQ(profile.Percentile(50), 1u);
}

TEST(Profile, FollowsTrafficThatChanges) {
  Profile profile;
  for (int i = 0; i < 100'000; ++i) profile.Record(1'000'000);
  for (uint32_t i = 0; i < 4 * Profile::kWindow; ++i) profile.Record(1000);
  EXPECT_LE(profile.Percentile(90), 1500u);
  for (uint32_t i = 0; i < 4 * Profile::kWindow; ++i) profile.Record(1'000'000);
  EXPECT_GE(profile.Percentile(10), 1'000'000u);
}

TEST(Profile, ARareGiantMovesOnlyTheTop) {
  Profile profile;
  for (int i = 0; i < 10'000; ++i) profile.Record(i % 100 == 0 ? 500'000'000 : 10'000);
  EXPECT_LE(profile.Percentile(90), 15'000u);
  EXPECT_GE(profile.Percentile(100), 500'000'000u);
}

TEST(Profile, ConcurrentRecordsLoseLittle) {
  Profile profile;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20'000; ++j) {
        profile.Record(j % 10 == 0 ? 1'000'000 : 1000);
        if (j % 100 == 0) static_cast<void>(profile.Percentile(90));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(profile.records(), 60'000u);
  EXPECT_GE(profile.records(), 20'000u);
  EXPECT_LE(profile.Percentile(75), 1500u);
  EXPECT_GE(profile.Percentile(99), 1'000'000u);
}

}  // namespace
}  // namespace harena
