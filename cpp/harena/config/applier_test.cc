#include "harena/config/applier.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/config/test_server.h"
#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/admin/change_listener.h"

namespace harena::config {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Config Read(const std::string& text) {
  Problems problems;
  auto config = Config::Parse("harena.yaml", text, problems);
  EXPECT_TRUE(config) << ToString(problems);
  return config.value_or(Config());
}

TEST(Applier, LaysSettingsOverTheCode) {
  TestServer server;
  server.Add("/a.S/One", {.request_bytes_max = 1 << 20, .depth_max = 10});
  server.Add("/a.S/Two", {.request_bytes_max = 1 << 20, .depth_max = 10});
  Applier applier;
  const Config config = Read(R"(
version: 1
defaults: {depth_max: 20}
methods: {/a.S/Two: {mode: pages, request_bytes_max: 2MiB, first_block_bytes: 128KiB}}
)");
  EXPECT_EQ(ToString(applier.Apply(config)), "");
  EXPECT_EQ(server.OptionsOf("/a.S/One").depth_max, 20);
  EXPECT_EQ(server.OptionsOf("/a.S/One").request_bytes_max, size_t{1} << 20);
  EXPECT_EQ(server.OptionsOf("/a.S/One").mode, Mode::kCodec);
  EXPECT_EQ(server.OptionsOf("/a.S/Two").depth_max, 20);
  EXPECT_EQ(server.OptionsOf("/a.S/Two").request_bytes_max, size_t{2} << 20);
  EXPECT_EQ(server.OptionsOf("/a.S/Two").first_block_bytes, size_t{128} << 10);
  EXPECT_EQ(server.OptionsOf("/a.S/Two").mode, Mode::kPages);
}

// Who lists changes is told: before them, after them and whose they are. What changes nothing is
// none.
TEST(Applier, ChangesInTheNameOfConfig) {
  TestServer server;
  server.Add("/n.S/One", {.depth_max = 10});
  std::vector<std::pair<std::string, int>> seen;
  const pb::ChangeListener listener([&](const char* who) {
    seen.emplace_back(who == nullptr ? "" : who, server.OptionsOf("/n.S/One").depth_max);
  });
  Applier applier;
  EXPECT_EQ(ToString(applier.Apply(Read("{version: 1, defaults: {depth_max: 20}}"))), "");
  EXPECT_EQ(ToString(applier.ApplyToNew()), "");
  using Seen = std::vector<std::pair<std::string, int>>;
  EXPECT_EQ(seen, (Seen{{"", 10}, {"config", 20}}));
  server.Add("/n.S/Two");
  EXPECT_EQ(ToString(applier.ApplyToNew()), "");
  EXPECT_EQ(server.OptionsOf("/n.S/Two").depth_max, 20);
  EXPECT_EQ(seen, (Seen{{"", 10}, {"config", 20}, {"", 20}, {"config", 20}}));
}

TEST(Applier, ASettingThatIsGoneBecomesTheCodesAgain) {
  TestServer server;
  server.Add("/b.S/One", {.depth_max = 10});
  PagePool& pool = PagePool::Default();
  const PagePoolRetention before = pool.retention();
  ProcessBudget().set_bytes_max(size_t{5} << 30);
  Applier applier;
  EXPECT_EQ(ToString(applier.Apply(Read(R"(
version: 1
process_bytes_max: 1GiB
page_pool: {retained_bytes_max: 1MiB, decay_after: 1500ms}
defaults: {mode: heap, depth_max: unlimited}
)"))),
            "");
  EXPECT_EQ(server.OptionsOf("/b.S/One").mode, Mode::kHeap);
  EXPECT_EQ(server.OptionsOf("/b.S/One").depth_max, 0);
  EXPECT_EQ(ProcessBudget().bytes_max(), size_t{1} << 30);
  EXPECT_EQ(pool.retention().retained_bytes_max, size_t{1} << 20);
  EXPECT_EQ(pool.retention().decay_after, std::chrono::milliseconds(1500));

  EXPECT_EQ(ToString(applier.Apply(Read("version: 1"))), "");
  EXPECT_EQ(server.OptionsOf("/b.S/One").mode, Mode::kCodec);
  EXPECT_EQ(server.OptionsOf("/b.S/One").depth_max, 10);
  EXPECT_EQ(ProcessBudget().bytes_max(), size_t{5} << 30);
  EXPECT_EQ(pool.retention().retained_bytes_max, before.retained_bytes_max);
  EXPECT_EQ(pool.retention().decay_after, before.decay_after);
  ProcessBudget().set_bytes_max(kUnlimitedBytes);
}

TEST(Applier, LeavesAloneWhatTheFileDoesNotName) {
  TestServer server;
  server.Add("/c.S/One");
  Applier applier;
  EXPECT_EQ(ToString(applier.Apply(Read("version: 1\ndefaults: {depth_max: 20}"))), "");
  EXPECT_EQ(server.set().SetRequestBytesMax(7 << 20), std::nullopt);
  EXPECT_EQ(ToString(applier.Apply(Read("version: 1\ndefaults: {depth_max: 30}"))), "");
  EXPECT_EQ(server.OptionsOf("/c.S/One").request_bytes_max, size_t{7} << 20);
  EXPECT_EQ(server.OptionsOf("/c.S/One").depth_max, 30);
}

// One method of one server that cannot have its settings keeps all methods of all servers as they
// are.
TEST(Applier, ChangesAllOrNothing) {
  TestServer first;
  first.Add("/d.S/One");
  TestServer second;
  second.Add("/d.S/Two", {.request_bytes_max = 1 << 20});
  Applier applier;
  const Problems problems = applier.Apply(Read(R"(version: 1
process_bytes_max: 1GiB
defaults: {depth_max: 20}
methods:
  /d.S/Two: {depth_max: unlimited, mode: heap}
)"));
  EXPECT_THAT(ToString(problems), StartsWith("harena.yaml:5:42: /d.S/Two: mode heap cannot hold "));
  EXPECT_EQ(first.OptionsOf("/d.S/One").depth_max, 0);
  EXPECT_EQ(second.OptionsOf("/d.S/Two").mode, Mode::kCodec);
  EXPECT_EQ(ProcessBudget().bytes_max(), kUnlimitedBytes);
}

// The same where the scopes would take it and the adapter does not: by then others have changed.
TEST(Applier, TakesBackWhatAnAdapterRefuses) {
  TestServer first;
  first.Add("/e.S/One");
  TestServer second([](const Options& options) -> std::optional<std::string> {
    if (options.mode != Mode::kReuse) return std::nullopt;
    return "mode reuse is not for this framework";
  });
  second.Add("/e.S/Two");
  Applier applier;
  const Problems problems =
      applier.Apply(Read("version: 1\ndefaults: {depth_max: 9, mode: reuse}"));
  EXPECT_EQ(ToString(problems), "harena.yaml:2:32: /e.S/Two: mode reuse is not for this framework");
  EXPECT_EQ(first.OptionsOf("/e.S/One").mode, Mode::kCodec);
  EXPECT_EQ(first.OptionsOf("/e.S/One").depth_max, 0);
}

TEST(Applier, RefusesWhatIsFixedWithItsLine) {
  TestServer server;
  server.Add("/f.S/One", {.quarantine_one_in = 500});
  Applier applier;
  EXPECT_EQ(ToString(applier.Apply(Read("version: 1\ndefaults: {quarantine_one_in: 500}"))), "");
  const Problems problems =
      applier.Apply(Read("version: 1\ndefaults:\n  quarantine_one_in: 100\n  depth_max: 10"));
  EXPECT_THAT(ToString(problems),
              StartsWith("harena.yaml:3:22: /f.S/One: quarantine_one_in cannot be changed"));
  EXPECT_EQ(server.OptionsOf("/f.S/One").depth_max, 0);
}

TEST(Applier, GivesMethodsThatComeLaterTheirs) {
  Applier applier;
  EXPECT_EQ(ToString(applier.ApplyToNew()), "");
  EXPECT_EQ(ToString(applier.Apply(Read("version: 1\ndefaults: {depth_max: 20}\n"
                                        "methods: {/g.S/Late: {quarantine_one_in: 3}}"))),
            "");
  TestServer server;
  server.Add("/g.S/One");
  server.Add("/g.S/Late");
  EXPECT_THAT(ToString(applier.ApplyToNew()), HasSubstr("/g.S/Late: quarantine_one_in"));
  EXPECT_EQ(ToString(applier.ApplyToNew()), "");  // told once
  EXPECT_EQ(server.OptionsOf("/g.S/One").depth_max, 20);
  EXPECT_EQ(server.OptionsOf("/g.S/Late").depth_max, 0);
}

TEST(Applier, WarningsNameWhatWasMeant) {
  TestServer server;
  server.Add("/h.Shop/Rank");
  const Problems warnings = Applier::Warnings(
      Read("version: 1\nmethods:\n  /h.Shop/Ranc: {}\n  /x.Other/Thing: {}\n  /h.Shop/Rank: {}"));
  EXPECT_EQ(ToString(warnings),
            "harena.yaml:3:3: nothing serves \"/h.Shop/Ranc\" yet; did you mean \"/h.Shop/Rank\"?\n"
            "harena.yaml:4:3: nothing serves \"/x.Other/Thing\" yet");
}

}  // namespace
}  // namespace harena::config
