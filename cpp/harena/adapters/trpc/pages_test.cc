// Arenas as tRPC makes them, on pages: the hooks in the hands of a server's steps.
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/adapters/trpc/test_call.h"
#include "harena/adapters/trpc/test_trpc_side.h"
#include "harena/adapters/trpc/use_pages.h"
#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/message_arena.h"
#include "harena/test/trpc_plain.pb.h"

namespace harena::trpc {
namespace {

using test::trpc::Form;
using ::testing::HasSubstr;
using ::testing::Optional;
using Call = TestCall<Task, Result>;

class Pages : public ::testing::Test {
 protected:
  void SetUp() override {
    UsePages();
    bytes_before_ = pool().stats().bytes_in_use;
  }
  void TearDown() override { EXPECT_EQ(bytes_in_use(), 0u); }

  static PagePool& pool() { return PagePool::Default(); }
  size_t bytes_in_use() const { return pool().stats().bytes_in_use - bytes_before_; }

 private:
  size_t bytes_before_ = 0;
};

TEST_F(Pages, RequestAndResponseStandThere) {
  for (const int items : {0, 20, 2000}) {
    const Task task = MakeTask(items);
    Call call;
    ASSERT_TRUE(call.Read(task.SerializeAsString()));
    EXPECT_EQ(PagePool::OwnerOf(&call.request()), &pool());
    EXPECT_EQ(PagePool::OwnerOf(&call.response()), &pool());
    for (const auto& item : call.request().items()) EXPECT_EQ(PagePool::OwnerOf(&item), &pool());
    Answer(call.request(), &call.response());
    EXPECT_GE(bytes_in_use(), 2 * pool().options().page_bytes);
    Result result;
    ASSERT_TRUE(result.ParseFromString(call.Write()));
    EXPECT_TRUE(MessageDifferencer::Equals(result, Expected(task)));
    EXPECT_EQ(bytes_in_use(), 0u);
  }
}

TEST_F(Pages, RecycledFromRequestToRequest) {
  const std::string bytes = MakeTask(200).SerializeAsString();
  const auto serve = [&] {
    Call call;
    EXPECT_TRUE(call.Read(bytes));
    Answer(call.request(), &call.response());
    EXPECT_FALSE(call.Write().empty());
  };
  for (int round = 0; round < 3; ++round) serve();
  const uint64_t regions = pool().stats().regions_mapped;
  for (int round = 0; round < 50; ++round) serve();
  EXPECT_EQ(pool().stats().regions_mapped, regions);
}

TEST_F(Pages, MessagesWithoutCodec) {
  Form form;
  for (int i = 0; i < 1000; ++i) form.add_inner()->set_name("a name longer than its own room");
  TestCall<Form, Form> call;
  ASSERT_TRUE(call.Read(form.SerializeAsString()));
  call.response() = call.request();
  Form answer;
  ASSERT_TRUE(answer.ParseFromString(call.Write()));
  EXPECT_TRUE(MessageDifferencer::Equals(answer, form));
}

// What was taken on one thread goes back on another, as when a fiber moves.
TEST_F(Pages, EndOnAnotherThread) {
  const std::string bytes = MakeTask(100).SerializeAsString();
  std::vector<Call> calls(20);
  for (Call& call : calls) ASSERT_TRUE(call.Read(bytes));
  std::thread([&] {
    for (Call& call : calls) Answer(call.request(), &call.response());
  }).join();
  EXPECT_GT(bytes_in_use(), 0u);
  std::thread([&] { calls.clear(); }).join();
  EXPECT_EQ(bytes_in_use(), 0u);
}

TEST_F(Pages, ManyThreads) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 100; ++round) {
        const Task task = MakeTask(t * 20 + round % 7);
        Call call;
        Result result;
        if (!call.Read(task.SerializeAsString())) ++wrong;
        Answer(call.request(), &call.response());
        if (!result.ParseFromString(call.Write())) ++wrong;
        if (!MessageDifferencer::Equals(result, Expected(task))) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Pages, RequestsThatAreNone) {
  const std::string bytes = MakeTask(100).SerializeAsString();
  for (size_t end = 1; end < bytes.size(); end += 97) {
    Call call;
    static_cast<void>(call.Read(bytes.substr(0, end)));
  }
}

// tRPC's arenas are none of Harena's scopes: protobuf's own code parses and writes the messages,
// and they are ordinary ones.
TEST_F(Pages, CodecMessagesAreOrdinary) {
  Call call;
  ASSERT_TRUE(call.Read(MakeTask(3).SerializeAsString()));
  EXPECT_NE(call.request().GetArena(), nullptr);
  EXPECT_EQ(pb::MessageArena::Find(call.request().GetArena()), nullptr);
  call.request().mutable_items(0)->set_name("another name, longer than the one that stood there");
  call.request().mutable_items()->RemoveLast();
  *call.response().mutable_items() = call.request().items();
  call.response().add_items()->Swap(call.request().mutable_items(0));
  Result result;
  ASSERT_TRUE(result.ParseFromString(call.Write()));
  ASSERT_EQ(result.items_size(), 3);
  EXPECT_TRUE(MessageDifferencer::Equals(result.items(0), result.items(2)));
}

// tRPC's frames are noexcept: a limit must not throw through them.
TEST_F(Pages, NeverThrowIntoTrpc) {
  const std::string bytes = MakeTask(2000).SerializeAsString();
  Call call;
  Budget budget("a limit", 1 << 10);
  {
    const pb::BudgetFrame frame(budget);
    EXPECT_TRUE(call.Read(bytes));
  }
  EXPECT_GT(budget.bytes_used(), budget.bytes_max());
}

TEST_F(Pages, ShownAmongTrpcsVariables) {
  Call call;
  EXPECT_EQ(test_variables.at("harena/pages/bytes_in_use")(), pool().stats().bytes_in_use);
  EXPECT_GT(test_variables.at("harena/pages/bytes_in_use")(), 0u);
  EXPECT_EQ(test_variables.at("harena/process/bytes_max")(), 0u);
}

TEST_F(Pages, CalledAgain) {
  EXPECT_EQ(TryUsePages(), std::nullopt);
  const PagesOptions other{nullptr, {}, std::chrono::milliseconds(7)};
  EXPECT_THAT(TryUsePages(other), Optional(HasSubstr("call it once")));
  test_served_requests = true;
  EXPECT_EQ(TryUsePages(), std::nullopt);
  EXPECT_THAT(TryUsePages(other), Optional(HasSubstr("requests have been served already")));
  test_served_requests = false;
}

#if HARENA_CODEC && !defined(NDEBUG)
TEST_F(Pages, ADeletedMessageSaysSo) {
  Call call;
  EXPECT_DEATH(delete &call.response(),
               "a message that stands on an arena .* was deleted.*harena.test.trpc.Result");
}
#endif

// Each in a process of its own, where nothing has been set yet.
class PagesDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(PagesDeathTest, OptionsThatWouldCorrupt) {
  static char block[4096];
  google::protobuf::ArenaOptions arena;
  arena.initial_block = block;
  arena.initial_block_size = sizeof(block);
  EXPECT_DEATH(UsePages({nullptr, arena}), "initial_block is set.*leave it out");
}

TEST_F(PagesDeathTest, TooLate) {
  EXPECT_DEATH(
      {
        test_served_requests = true;
        UsePages();
      },
      "call UsePages\\(\\) in Initialize\\(\\)");
}

TEST_F(PagesDeathTest, OptionsThatDoNotArrive) {
  EXPECT_DEATH(
      {
        test_ignore_options = true;
        UsePages();
      },
      "link tRPC once");
}

}  // namespace
}  // namespace harena::trpc
