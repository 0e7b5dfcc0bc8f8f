// Races by name, for ThreadSanitizer; each runs for a moment in every build.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/parse/parse.h"
#include "harena/pb/wire/test_wire.h"
#include "harena/scope/scope_pool.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/wide.pb.h"

namespace harena::pb {
namespace {

using harena::test::Shapes;
using harena::test::WideList;

constexpr auto kDuration = std::chrono::milliseconds(500);

class Deadline {
 public:
  bool Passed() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kDuration;
};

PagePoolOptions RestlessOptions() {
  PagePoolOptions options;
  options.decay_after = std::chrono::milliseconds(2);
  options.thread_cache_bytes_max = size_t{512} << 10;
  options.retained_bytes_max = size_t{2} << 20;
  return options;
}

TEST(PbRace, MessagesBuiltByTwoThreads) {
  PagePool pool(RestlessOptions());
  for (const Deadline deadline; !deadline.Passed();) {
    Scope scope({.page_pool = &pool});
    auto* first = scope.CreateMessage<Shapes>();
    auto* second = scope.CreateMessage<Shapes>();
    ASSERT_EQ(first->GetArena(), second->GetArena());
    const auto build = [](Shapes* message, const char* name) {
      for (int i = 0; i < 300; ++i) {
        message->add_leaves()->set_name(name);
        (*message->mutable_leaf_by_number())[i].set_name(name);
        message->add_texts("a text that does not fit into a string itself");
      }
    };
    std::thread other([&] { build(second, "second"); });
    build(first, "first");
    other.join();
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(first->leaves(i).name(), "first");
      ASSERT_EQ(second->leaf_by_number().at(i).name(), "second");
    }
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(PbRace, KeeperBorrowedWhileDecaying) {
  PagePool pool(RestlessOptions());
  const Options options{.mode = Mode::kReuse, .reuse_instances_max = 3, .page_pool = &pool};
  {
    MessageKeeper keeper(Shapes::default_instance(), Shapes::default_instance(), options);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        while (!stop.load()) {
          Scope scope({.page_pool = &pool, .mode = Mode::kReuse});
          const MessageKeeper::Pair pair = keeper.Take(scope);
          auto* request = static_cast<Shapes*>(pair.request);
          ASSERT_EQ(request->leaves_size(), 0);
          ASSERT_EQ(request->text(), "");
          request->set_text(std::to_string(i));
          for (int j = 0; j < 20; ++j) request->add_leaves()->set_weight(i);
          ASSERT_EQ(request->text(), std::to_string(i));
        }
      });
    }
    for (const Deadline deadline; !deadline.Passed();) {
      keeper.Decay();
      EXPECT_LE(keeper.stats().instances_idle, 3u);
      keeper.Trim();
    }
    stop.store(true);
    for (std::thread& thread : threads) thread.join();
    const MessageKeeperStats stats = keeper.stats();
    EXPECT_EQ(stats.instances_built, stats.instances_dropped + stats.instances_idle);
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(PbRace, KeeperDestroyedWhileInstancesReturn) {
  PagePool pool(RestlessOptions());
  const Options options{.mode = Mode::kReuse, .page_pool = &pool};
  for (const Deadline deadline; !deadline.Passed();) {
    auto keeper = std::make_unique<MessageKeeper>(Shapes::default_instance(),
                                                  Shapes::default_instance(), options);
    std::vector<DetachedScope> detached;
    for (int i = 0; i < 4; ++i) {
      Scope scope({.page_pool = &pool});
      static_cast<Shapes*>(keeper->Take(scope).request)->set_text("text");
      detached.push_back(scope.Detach());
    }
    std::thread returning([&] { detached.clear(); });
    keeper.reset();
    returning.join();
    ASSERT_EQ(pool.stats().bytes_in_use, 0u);
  }
}

// Refusals on some threads while others are served: a frame is its thread's alone.
TEST(PbRace, RefusedBesideServed) {
  PagePool pool(RestlessOptions());
  const Options options{
      .mode = Mode::kReuse, .request_bytes_max = size_t{512} << 10, .page_pool = &pool};
  {
    ScopePool scopes(options);
    MessageKeeper keeper(WideList::default_instance(), Shapes::default_instance(), options);
    const std::string bomb = test::WideBomb(2000);
    const std::string good = test::WideBomb(20);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        while (!stop.load()) {
          Scope scope = scopes.Acquire();
          const auto status =
              Parse(scope, i == 0 ? bomb : good, *keeper.Take(scope).request).status;
          ASSERT_EQ(status, i == 0 ? ParseStatus::kRefused : ParseStatus::kOk);
        }
      });
    }
    std::this_thread::sleep_for(kDuration);
    stop.store(true);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(scopes.stats().scopes_live(), 0u);
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

}  // namespace
}  // namespace harena::pb
