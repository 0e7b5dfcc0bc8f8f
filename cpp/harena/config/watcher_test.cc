#include "harena/config/watcher.h"

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/config/test_server.h"

namespace harena::config {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kNever{3'600'000};

// A folder of the test's own.
class WatcherTest : public ::testing::Test {
 protected:
  WatcherTest() {
    std::string name = (fs::temp_directory_path() / "harena-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "harena.yaml";
    server_.Add("/a.S/One");
  }
  ~WatcherTest() override { fs::remove_all(folder_); }

  static void Write(const fs::path& path, const std::string& depth) {
    std::ofstream(path) << "version: 1\ndefaults: {depth_max: " << depth << "}\n";
  }

  std::unique_ptr<Watcher> Start(milliseconds poll_every = kNever) {
    Problems problems;
    auto watcher =
        Watcher::Start(path_.string(), {.overrides = {}, .poll_every = poll_every}, problems);
    EXPECT_EQ(ToString(problems), "");
    return watcher;
  }

  int depth() const { return server_.OptionsOf("/a.S/One").depth_max; }

  template <typename Holds>
  static bool Eventually(Holds holds) {
    for (int i = 0; i < 4000 && !holds(); ++i) std::this_thread::sleep_for(milliseconds(5));
    return holds();
  }
  bool EventuallyDepth(int wanted) {
    return Eventually([&] { return depth() == wanted; });
  }

  TestServer server_;
  fs::path folder_;
  fs::path path_;
};

TEST_F(WatcherTest, AppliesEachChange) {
  Write(path_, "11");
  const auto watcher = Start();
  ASSERT_TRUE(watcher);
  EXPECT_EQ(depth(), 11);  // before Start() returned
  Write(path_, "12");
  EXPECT_TRUE(EventuallyDepth(12)) << "written in place";
  Write(folder_ / "new", "13");
  fs::rename(folder_ / "new", path_);
  EXPECT_TRUE(EventuallyDepth(13)) << "replaced";
  fs::remove(path_);
  EXPECT_TRUE(Eventually([&] { return !watcher->problems().empty(); }));
  EXPECT_EQ(depth(), 13) << "the settings went with the file";
  Write(path_, "14");
  EXPECT_TRUE(EventuallyDepth(14)) << "there again";
  EXPECT_TRUE(Eventually([&] { return watcher->problems().empty(); }));
}

TEST_F(WatcherTest, RefusesABadFileAndKeepsTheOldOne) {
  Write(path_, "21");
  const auto watcher = Start();
  ASSERT_TRUE(watcher);
  Write(path_, "many");
  ASSERT_TRUE(Eventually([&] { return !watcher->problems().empty(); }));
  EXPECT_EQ(ToString(watcher->problems()),
            path_.string() +
                ":2:23: depth_max is \"many\"; write a whole number from 1 to 100, or unlimited");
  EXPECT_EQ(depth(), 21);
  EXPECT_EQ(watcher->config().For("").at("depth_max").text, "21");
  EXPECT_EQ(watcher->reloads(), 1u);
}

// Kubernetes shows a file through a link to a link, and switches the second.
TEST_F(WatcherTest, FollowsSwitchedLinks) {
  const auto show = [&](const std::string& name, const std::string& depth) {
    fs::create_directory(folder_ / name);
    Write(folder_ / name / "harena.yaml", depth);
    fs::create_symlink(name, folder_ / "..data_tmp");
    fs::rename(folder_ / "..data_tmp", folder_ / "..data");
  };
  show("..2026_01", "31");
  fs::create_symlink("..data/harena.yaml", path_);
  const auto watcher = Start();
  ASSERT_TRUE(watcher);
  show("..2026_02", "32");
  EXPECT_TRUE(EventuallyDepth(32));
  show("..2026_03", "33");
  EXPECT_TRUE(EventuallyDepth(33));
}

// Folders that are not watched stand for a file system that tells nothing: the third link of three.
TEST_F(WatcherTest, PollsToo) {
  fs::create_directories(folder_ / "a");
  fs::create_directories(folder_ / "b");
  Write(folder_ / "b" / "one.yaml", "41");
  Write(folder_ / "b" / "two.yaml", "42");
  fs::create_symlink("../b/one.yaml", folder_ / "a" / "link");
  fs::create_symlink("a/link", path_);
  const auto watcher = Start(milliseconds(5));
  ASSERT_TRUE(watcher);
  EXPECT_EQ(depth(), 41);
  fs::remove(folder_ / "a" / "link");
  fs::create_symlink("../b/two.yaml", folder_ / "a" / "link");
  EXPECT_TRUE(EventuallyDepth(42));
}

TEST_F(WatcherTest, GivesLateMethodsTheirs) {
  Write(path_, "51");
  const auto watcher = Start();
  ASSERT_TRUE(watcher);
  TestServer late;
  late.Add("/b.S/Late");
  EXPECT_TRUE(Eventually([&] { return late.OptionsOf("/b.S/Late").depth_max == 51; }));
}

TEST_F(WatcherTest, LaysOverridesOverEachFile) {
  Write(path_, "61");
  Problems problems;
  const auto watcher = Watcher::Start(
      path_.string(), {.overrides = {{"HARENA_DEPTH_MAX", "depth_max", "7"}}, .poll_every = kNever},
      problems);
  ASSERT_TRUE(watcher) << ToString(problems);
  Write(path_, "62");
  EXPECT_TRUE(Eventually([&] { return watcher->reloads() == 2; }));
  EXPECT_EQ(depth(), 7);
}

TEST_F(WatcherTest, DoesNotBeginWithABadFile) {
  Problems problems;
  EXPECT_EQ(Watcher::Start(path_.string(), {}, problems), nullptr);
  EXPECT_EQ(problems.size(), 1u);
  Write(path_, "none");
  EXPECT_EQ(Watcher::Start(path_.string(), {}, problems), nullptr);
  EXPECT_EQ(problems.size(), 1u);
}

}  // namespace
}  // namespace harena::config
