#include "harena/pb/admin/change_listener.h"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace harena::pb {
namespace {

TEST(ChangeListener, IsCalledBeforeAndAfter) {
  std::vector<std::string> steps;
  std::optional<ChangeListener> listener;
  listener.emplace([&](const char* who) { steps.emplace_back(who == nullptr ? "before" : who); });
  ChangeAs("somebody", [&] { steps.emplace_back("change"); });
  EXPECT_EQ(steps, (std::vector<std::string>{"before", "change", "somebody"}));
  listener.reset();
  ChangeAs("somebody", [&] { steps.emplace_back("alone"); });
  EXPECT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps.back(), "alone");
}

// Listeners come and go while others change; each sees whole changes of one at a time.
TEST(ChangeListener, SeesOneChangeAtATime) {
  std::atomic<bool> stop{false};
  int value = 0;
  std::vector<std::thread> changing;
  for (const char* const who : {"a", "b"}) {
    changing.emplace_back([&, who] {
      while (!stop) {
        ChangeAs(who, [&] { value += *who == 'a' ? 1 : 2; });
        std::this_thread::yield();
      }
    });
  }
  int changes = 0;
  for (int round = 0; round < 100; ++round) {
    int before = 0;
    std::atomic<int> seen{0};
    const ChangeListener listener([&](const char* who) {
      if (who == nullptr) {
        before = value;
        return;
      }
      EXPECT_EQ(value - before, *who == 'a' ? 1 : 2);
      ++seen;
    });
    while (seen == 0) std::this_thread::yield();
    changes += seen;
  }
  stop = true;
  for (std::thread& thread : changing) thread.join();
  EXPECT_GE(changes, 100);
}

}  // namespace
}  // namespace harena::pb
