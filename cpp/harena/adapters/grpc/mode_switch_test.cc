// Modes change while calls are running: no call may notice.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"

namespace harena::grpc {
namespace {

class Load {
 public:
  Load(Rig<>& rig, int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, &rig, i] {
        const Task task = MakeTask(1 + 40 * i);
        while (!stop_) {
          Result result;
          const ::grpc::Status status = rig.Run(task, &result);
          EXPECT_TRUE(status.ok()) << status.error_message();
          EXPECT_EQ(result.items_size(), task.items_size());
          EXPECT_EQ(result.items(0).labels().at("key"), "value 0");
          calls_.fetch_add(1);
        }
      });
    }
  }
  ~Load() { Stop(); }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void AwaitCalls(int more) {
    const int goal = calls_ + more;
    EXPECT_TRUE(Eventually([&] { return calls_ >= goal; }));
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> calls_{0};
  std::vector<std::thread> threads_;
};

TEST(ModeSwitchTest, OfTheWholeServer) {
  Rig<> rig;
  rig.Start(Mode::kHeap);
  Load load(rig, 4);
  for (int round = 0; round < 5; ++round) {
    for (const Mode mode : kModes) {
      ASSERT_EQ(rig.scoped().SetMode(mode), std::nullopt);
      EXPECT_EQ(rig.stats(kRun).mode, mode);
      load.AwaitCalls(8);
    }
  }
  load.Stop();
  rig.ExpectAllMemoryBack();
}

TEST(ModeSwitchTest, OfOneMethod) {
  Rig<> rig;
  rig.Start(Mode::kArena);
  Load load(rig, 3);
  for (int round = 0; round < 5; ++round) {
    for (const Mode mode : kModes) {
      ASSERT_EQ(rig.scoped().SetMode(kRun, mode), std::nullopt);
      EXPECT_EQ(rig.stats(kHold).mode, Mode::kArena);
      load.AwaitCalls(6);
    }
  }
  load.Stop();
  rig.ExpectAllMemoryBack();
}

// Two people at the controls: the mode and the limit never contradict each other.
TEST(ModeSwitchTest, WhileTheLimitChangesToo) {
  Rig<> rig;
  rig.Start(Mode::kPages);
  Load load(rig, 2);
  std::thread limiter([&] {
    for (int i = 0; i < 200; ++i) {
      static_cast<void>(rig.scoped().SetRequestBytesMax(16 * kMiB));
      static_cast<void>(rig.scoped().SetRequestBytesMax(kUnlimitedBytes));
    }
  });
  for (int i = 0; i < 200; ++i) {
    if (rig.scoped().SetMode(Mode::kHeap) == std::nullopt) {
      // Then no method of the server had a limit, and none can have got one since.
      for (const MethodStats& stats : rig.scoped().stats()) EXPECT_EQ(stats.mode, Mode::kHeap);
    }
    ASSERT_EQ(rig.scoped().SetMode(Mode::kReuse), std::nullopt);
  }
  limiter.join();
  load.Stop();
  rig.ExpectAllMemoryBack();
}

// What the kept instances hold is given back, not forgotten, when nobody reuses them any more.
TEST(ModeSwitchTest, LeavingReuseGivesBackWhatWasKept) {
  Rig<> rig;
  rig.Start(Mode::kReuse);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rig.Run(MakeTask()).ok());
  rig.ExpectAllMemoryBack();
  EXPECT_GT(rig.stats().kept.bytes_idle, 0u);
  ASSERT_EQ(rig.scoped().SetMode(Mode::kPages), std::nullopt);
  EXPECT_EQ(rig.stats().kept.bytes_idle, 0u);
  rig.ExpectAllMemoryBack();
}

}  // namespace
}  // namespace harena::grpc
