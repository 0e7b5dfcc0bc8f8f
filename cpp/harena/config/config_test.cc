// Overrides, and the options that a server is made with.
#include "harena/config/config.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace harena::config {
namespace {

Config Read(const std::string& text) {
  Problems problems;
  auto config = Config::Parse("harena.yaml", text, problems);
  EXPECT_TRUE(config) << ToString(problems);
  return config.value_or(Config());
}

TEST(Overrides, FlagsWinOverTheEnvironment) {
  const auto lookup = [](const char* name) {
    return std::string(name) == "HARENA_MODE" ? "codec" : nullptr;
  };
  std::vector<Override> overrides = FromEnvironment(lookup);
  overrides.push_back(FromFlag("--harena", "mode=arena").value());
  Problems problems;
  const auto config = Config().With(overrides, problems);
  ASSERT_TRUE(config) << ToString(problems);
  const Settings settings = config->For("/a.S/One");
  EXPECT_EQ(settings.at("mode").text, "arena");
  EXPECT_EQ(settings.at("mode").place.ToString(), "--harena");
  EXPECT_EQ(FromFlag("--harena", "arena"), std::nullopt);
}

TEST(Overrides, UnknownOnesAreRefused) {
  Problems problems;
  EXPECT_FALSE(Config().With({{"--set", "mod", "heap"}}, problems));
  EXPECT_EQ(ToString(problems), "--set: unknown setting \"mod\"; did you mean mode?");
}

TEST(Config, OptionsAreThoseOfTheCodeWithTheSettingsLaidOver) {
  const Config config = Read(R"(
version: 1
defaults: {depth_max: 20, quarantine_one_in: 50, request_bytes_max: unlimited}
methods:
  /a.S/One:
    {mode: reuse, request_bytes_max: 64MiB, decoded_ratio_max: 1.5, decoded_floor_bytes: 4KiB,
     first_block_bytes: 128KiB, first_block_bytes_max: 1MiB, first_block_percentile: 90.5,
     reuse_instances_max: 3, reuse_bytes_max: 1MiB, reuse_growth_max: 3}
)");
  Options code;
  code.request_bytes_max = size_t{1} << 20;
  code.decoded_ratio_max = 7;
  Problems problems;
  const Options server = config.OptionsFor("", code, problems).value();
  EXPECT_EQ(server.depth_max, 20);
  EXPECT_EQ(server.quarantine_one_in, 50u);
  EXPECT_EQ(server.request_bytes_max, kUnlimitedBytes);
  EXPECT_EQ(server.decoded_ratio_max, 7);
  EXPECT_EQ(server.mode, Mode::kCodec);
  const Options one = config.OptionsFor("/a.S/One", code, problems).value();
  EXPECT_EQ(one.mode, Mode::kReuse);
  EXPECT_EQ(one.depth_max, 20);
  EXPECT_EQ(one.request_bytes_max, size_t{64} << 20);
  EXPECT_EQ(one.decoded_ratio_max, 1.5);
  EXPECT_EQ(one.decoded_floor_bytes, size_t{4} << 10);
  EXPECT_EQ(one.first_block_bytes, size_t{128} << 10);
  EXPECT_EQ(one.first_block_bytes_max, size_t{1} << 20);
  EXPECT_EQ(one.first_block_percentile, 90.5);
  EXPECT_EQ(one.reuse_instances_max, 3u);
  EXPECT_EQ(one.reuse_bytes_max, size_t{1} << 20);
  EXPECT_EQ(one.reuse_growth_max, 3);
}

// What only this server's code or page pool forbids is told with the setting's line.
TEST(Config, OptionsThatCannotBeAreToldByLine) {
  const Config config = Read("version: 1\ndefaults:\n  depth_max: 5\n  request_bytes_max: 4KiB\n");
  Problems problems;
  EXPECT_FALSE(config.OptionsFor("/a.S/One", {}, problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].place.ToString(), "harena.yaml:4:22");
  EXPECT_THAT(problems[0].reason,
              ::testing::StartsWith("/a.S/One: request_bytes_max is 4096, less than one page"));
}

// yaml-cpp's own sentences repeat what they do not like. Found by config_parse_fuzz.
TEST(Config, ReasonsHaveNoControlCharactersOfTheFile) {
  Problems problems;
  EXPECT_FALSE(Config::Parse("harena.yaml", "version: \"\\\x01\"", problems));
  EXPECT_FALSE(Config::Parse("harena.yaml", "version: \"\\\x1b\"", problems));
  ASSERT_EQ(problems.size(), 2U);
  for (const Problem& problem : problems) {
    EXPECT_EQ(problem.reason, "no valid YAML: unknown escape character: ?");
  }
}

// yaml-cpp's LoadAll() takes memory for them without an end. Found by config_parse_fuzz.
TEST(Config, FilesThatBeginWithACommaAreRefused) {
  for (const char* text : {",", ",version: 1\n", "# comma\n  ,\n", "---\n,"}) {
    Problems problems;
    EXPECT_FALSE(Config::Parse("harena.yaml", text, problems)) << text;
    EXPECT_EQ(problems.size(), 1U) << text << ToString(problems);
  }
}

TEST(Config, FilesThatCannotBeReadAreTold) {
  Problems problems;
  EXPECT_FALSE(Config::Load("/nonexistent/harena.yaml", problems));
  EXPECT_EQ(ToString(problems),
            "/nonexistent/harena.yaml: the file cannot be read: No such file or directory");
  problems.clear();
  EXPECT_FALSE(Config::Load("/", problems));
  EXPECT_EQ(problems.size(), 1u);
  problems.clear();
  EXPECT_FALSE(Config::Parse("large.yaml", std::string(kFileBytesMax + 1, '#'), problems));
  EXPECT_EQ(problems.size(), 1u);
}

}  // namespace
}  // namespace harena::config
