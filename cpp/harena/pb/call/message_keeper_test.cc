// Instances that are kept: which, for how long, and at whose expense.
#include "harena/pb/call/message_keeper.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/layout/family.h"
#include "harena/pb/parse/parse.h"
#include "harena/pb/wire/test_wire.h"
#include "harena/test/shapes.pb.h"

namespace harena::pb {
namespace {

using harena::test::Leaf;
using harena::test::Shapes;

// Of an instance, beside its arena's pages: protobuf's Arena object has 40 to 168 bytes, and its
// last block may be larger than the pages by its header.
constexpr size_t kOwnBytesMax = HARENA_PROTOBUF_3_21 ? 256 : 512;
constexpr size_t kPageBytes = 64 * kKiB;

class KeeperTest : public testing::Test {
 protected:
  ~KeeperTest() override { EXPECT_EQ(pool_.stats().bytes_in_use, 0u); }

  Options MakeOptions() { return {.mode = Mode::kReuse, .page_pool = &pool_}; }
  std::unique_ptr<MessageKeeper> MakeKeeper(const Options& options) {
    return std::make_unique<MessageKeeper>(Shapes::default_instance(), Shapes::default_instance(),
                                           options);
  }
  Scope MakeScope(size_t limit = kUnlimitedBytes) {
    return Scope({.request_bytes_max = limit, .page_pool = &pool_, .mode = Mode::kReuse});
  }
  static Shapes* Request(MessageKeeper& keeper, Scope& scope) {
    return static_cast<Shapes*>(keeper.Take(scope).request);
  }

  PagePool pool_{TestOptions()};
};

TEST_F(KeeperTest, InstancesAndTheirPartsReallyAreKept) {
  const auto keeper = MakeKeeper(MakeOptions());
  const Shapes* request = nullptr;
  const Leaf* leaf = nullptr;
  const Leaf* element = nullptr;
  const std::string* text = nullptr;
  for (int round = 0; round < 5; ++round) {
    Scope scope = MakeScope();
    const MessageKeeper::Pair pair = keeper->Take(scope);
    auto* message = static_cast<Shapes*>(pair.request);
    EXPECT_NE(pair.request, pair.response);
    EXPECT_EQ(message->ByteSizeLong(), 0u);
    EXPECT_FALSE(message->has_leaf());
    EXPECT_EQ(message->leaves_size(), 0);
    message->mutable_leaf()->set_name("a");
    message->add_leaves()->set_name("b");
    message->add_texts("c");
    if (round == 0) {
      request = message;
      leaf = &message->leaf();
      element = &message->leaves(0);
      text = &message->texts(0);
    }
    EXPECT_EQ(message, request);
    EXPECT_EQ(&message->leaf(), leaf);
    EXPECT_EQ(&message->leaves(0), element);
    EXPECT_EQ(&message->texts(0), text);
  }
  EXPECT_EQ(keeper->stats().instances_built, 1u);
  EXPECT_EQ(keeper->stats().instances_dropped, 0u);
  EXPECT_EQ(keeper->stats().instances_idle, 1u);
  EXPECT_GE(keeper->stats().bytes_idle, kPageBytes);
}

TEST_F(KeeperTest, RequestsAtOnceGetTheirOwn) {
  const auto keeper = MakeKeeper(MakeOptions());
  Scope first = MakeScope();
  Scope second = MakeScope();
  EXPECT_NE(Request(*keeper, first), Request(*keeper, second));
  EXPECT_EQ(keeper->stats().instances_built, 2u);
  // And one request may borrow twice.
  EXPECT_NE(Request(*keeper, first), Request(*keeper, first));
}

TEST_F(KeeperTest, TheHottestIsLentAgain) {
  const auto keeper = MakeKeeper(MakeOptions());
  std::optional<Scope> first = MakeScope();
  std::optional<Scope> second = MakeScope();
  Request(*keeper, *first);
  const Shapes* last = Request(*keeper, *second);
  first.reset();
  second.reset();
  Scope scope = MakeScope();
  EXPECT_EQ(Request(*keeper, scope), last);
}

// protobuf's Clear() leaks map nodes into the arena, so growth is what has to be watched.
TEST_F(KeeperTest, GrowthByMapsIsFollowedByARebuild) {
  const auto keeper = MakeKeeper(MakeOptions());
  size_t idle_bytes_max = 0;
  constexpr int kRounds = 500;
  for (int round = 0; round < kRounds; ++round) {
    Scope scope = MakeScope();
    Shapes* message = Request(*keeper, scope);
    for (int i = 0; i < 300; ++i) (*message->mutable_numbers())[i] = round;
    idle_bytes_max = std::max(idle_bytes_max, keeper->stats().bytes_idle);
  }
  const MessageKeeperStats stats = keeper->stats();
  EXPECT_GE(stats.instances_built, 3u);
  EXPECT_LT(stats.instances_built, kRounds / 3);  // or keeping would be pointless
  EXPECT_LE(idle_bytes_max, 10 * kPageBytes);
  EXPECT_EQ(stats.instances_built - stats.instances_dropped, stats.instances_idle);
}

TEST_F(KeeperTest, ConstantTrafficIsNeverRebuilt) {
  const auto keeper = MakeKeeper(MakeOptions());
  for (int round = 0; round < 1000; ++round) {
    Scope scope = MakeScope();
    Shapes* message = Request(*keeper, scope);
    for (int i = 0; i < 20; ++i) message->add_leaves()->set_weight(i);
  }
  EXPECT_EQ(keeper->stats().instances_built, 1u);
}

TEST_F(KeeperTest, AGiantIsDropped) {
  Options options = MakeOptions();
  options.reuse_bytes_max = kMiB;
  const auto keeper = MakeKeeper(options);
  {
    Scope scope = MakeScope();
    Shapes* message = Request(*keeper, scope);
    for (int i = 0; i < 30'000; ++i) message->add_leaves();
  }
  EXPECT_EQ(keeper->stats().instances_idle, 0u);
  EXPECT_EQ(keeper->stats().instances_dropped, 1u);
  EXPECT_EQ(pool_.stats().bytes_in_use, 0u);
}

// String buffers are on the heap, where neither the arena nor the pool sees them.
TEST_F(KeeperTest, AGiantOfOneStringIsDroppedToo) {
  Options options = MakeOptions();
  options.reuse_bytes_max = kMiB;
  const auto keeper = MakeKeeper(options);
  {
    Scope scope = MakeScope();
    const std::string wire = test::Field(1, std::string(2 * kMiB, 'x'));
    ASSERT_TRUE(Parse(scope, wire, *Request(*keeper, scope)));
  }
  EXPECT_EQ(keeper->stats().instances_idle, 0u);
  {
    Scope scope = MakeScope();
    auto* response = static_cast<Shapes*>(keeper->Take(scope).response);
    response->set_text(std::string(2 * kMiB, 'x'));
    EXPECT_GT(response->SerializeAsString().size(), 2 * kMiB);
  }
  EXPECT_EQ(keeper->stats().instances_idle, 0u);
  EXPECT_EQ(keeper->stats().instances_dropped, 2u);
}

TEST_F(KeeperTest, NoMoreAreIdleThanAllowed) {
  Options options = MakeOptions();
  options.reuse_instances_max = 3;
  const auto keeper = MakeKeeper(options);
  {
    std::vector<Scope> scopes;
    for (int i = 0; i < 10; ++i) {
      scopes.push_back(MakeScope());
      Request(*keeper, scopes.back());
    }
    EXPECT_EQ(keeper->stats().instances_idle, 0u);
  }
  EXPECT_EQ(keeper->stats().instances_idle, 3u);
  EXPECT_EQ(keeper->stats().instances_dropped, 7u);
  EXPECT_EQ(pool_.stats().bytes_in_use, keeper->stats().bytes_idle);
}

TEST_F(KeeperTest, NoneAreKeptWhenNoneAreAllowed) {
  Options options = MakeOptions();
  options.reuse_instances_max = 0;
  const auto keeper = MakeKeeper(options);
  for (int i = 0; i < 3; ++i) {
    Scope scope = MakeScope();
    Request(*keeper, scope)->set_text("text");
  }
  EXPECT_EQ(keeper->stats().instances_dropped, 3u);
  EXPECT_EQ(keeper->stats().bytes_idle, 0u);
}

TEST_F(KeeperTest, IdleInstancesDecay) {
  const auto keeper = MakeKeeper(MakeOptions());
  {
    Scope first = MakeScope();
    Scope second = MakeScope();
    Request(*keeper, first);
    Request(*keeper, second);
  }
  EXPECT_EQ(keeper->Decay(), 0u);
  for (int i = 0; i < 5; ++i) {  // traffic for one, past the period
    test_now_ms += 300;
    {
      Scope scope = MakeScope();
      Request(*keeper, scope);
    }
    keeper->Decay();
  }
  EXPECT_EQ(keeper->stats().instances_idle, 1u);
  test_now_ms += 999;
  EXPECT_EQ(keeper->Decay(), 0u);
  test_now_ms += 1;
  EXPECT_EQ(keeper->Decay(), 1u);
  EXPECT_EQ(keeper->stats().instances_idle, 0u);
  EXPECT_EQ(keeper->stats().instances_dropped, 2u);
  EXPECT_EQ(pool_.stats().bytes_in_use, 0u);
}

TEST_F(KeeperTest, TrimDropsWhatIsIdleAndNothingElse) {
  const auto keeper = MakeKeeper(MakeOptions());
  Scope held = MakeScope();
  Shapes* message = Request(*keeper, held);
  {
    Scope scope = MakeScope();
    Request(*keeper, scope);
  }
  EXPECT_EQ(keeper->Trim(), 1u);
  EXPECT_EQ(keeper->Trim(), 0u);
  message->set_text("still there");
  EXPECT_EQ(message->text(), "still there");
}

TEST_F(KeeperTest, ADetachedScopeReturnsItsInstanceAfterTheKeeperIsGone) {
  auto keeper = MakeKeeper(MakeOptions());
  DetachedScope detached;
  const Shapes* message = nullptr;
  {
    Scope scope = MakeScope();
    Shapes* request = Request(*keeper, scope);
    request->set_text("detached");
    message = request;
    detached = scope.Detach();
  }
  EXPECT_EQ(keeper->stats().instances_idle, 0u);
  keeper.reset();
  EXPECT_EQ(message->text(), "detached");
  std::thread([&] { detached.Reset(); }).join();
  EXPECT_EQ(pool_.stats().bytes_in_use, 0u);
}

TEST_F(KeeperTest, AnInstanceCountsAgainstTheBudgetOfWhoBorrowsIt) {
  const auto keeper = MakeKeeper(MakeOptions());
  size_t held_bytes = 0;
  {
    Scope scope = MakeScope();
    Shapes* message = Request(*keeper, scope);
    const BudgetFrame frame(scope.budget());
    for (int i = 0; i < 5000; ++i) message->add_leaves();
    held_bytes = scope.budget().bytes_used() - kPageBytes;
  }
  // By what protobuf asked for; a block of its own may be larger than that.
  const size_t idle_bytes = keeper->stats().bytes_idle;
  EXPECT_LE(idle_bytes, held_bytes);
  EXPECT_GE(idle_bytes, held_bytes * 3 / 4);
  Scope scope = MakeScope();
  Request(*keeper, scope);
  // And with what it takes to keep them.
  EXPECT_GE(scope.budget().bytes_used(), kPageBytes + idle_bytes);
  EXPECT_LE(scope.budget().bytes_used(), kPageBytes + idle_bytes + kOwnBytesMax);
}

TEST_F(KeeperTest, AnInstanceLargerThanTheBudgetIsReplaced) {
  const auto keeper = MakeKeeper(MakeOptions());
  {
    Scope scope = MakeScope();
    Shapes* message = Request(*keeper, scope);
    for (int i = 0; i < 20'000; ++i) message->add_leaves();
  }
  EXPECT_EQ(keeper->stats().instances_idle, 1u);
  EXPECT_GT(keeper->stats().bytes_idle, 500 * kKiB);
  {
    Scope scope = MakeScope(4 * kPageBytes);
    Request(*keeper, scope)->set_text("a small one");
    EXPECT_LE(scope.budget().bytes_used(), 2 * kPageBytes + kOwnBytesMax);
  }
  const MessageKeeperStats stats = keeper->stats();
  EXPECT_EQ(stats.instances_built, 2u);
  EXPECT_EQ(stats.instances_dropped, 1u);
  EXPECT_EQ(stats.instances_idle, 1u);  // the small one: no request of its own was refused
  EXPECT_LE(stats.bytes_idle, kPageBytes);
}

TEST_F(KeeperTest, NoRoomForAnInstanceIsARefusal) {
  const auto keeper = MakeKeeper(MakeOptions());
  Scope scope = MakeScope(kPageBytes);
  while (scope.budget().TryCharge(100)) {
  }
  static_cast<void>(scope.budget().TryCharge(kPageBytes, kPageBytes));  // the page of slack
  EXPECT_THROW(keeper->Take(scope), BudgetExceeded);
  EXPECT_EQ(keeper->stats().instances_built, 0u);
}

// A refusal leaves protobuf half way through a change; a map's table is then not the size that the
// map believes, and Clear() would walk off it. Such an instance is never kept.
TEST_F(KeeperTest, ARefusedInstanceIsNotClearedAndNotKept) {
  std::string wire;
  for (uint64_t i = 0; i < 4000; ++i) {
    wire += test::Field(18, test::Number(1, i * 7919) + test::Number(2, i));
  }
  const auto keeper = MakeKeeper(MakeOptions());
  int refused = 0;
  for (size_t limit = 2 * kPageBytes; limit < 40 * kPageBytes; limit += 3000) {
    Scope scope = MakeScope(limit + wire.size());
    const auto status = Parse(scope, wire, *Request(*keeper, scope)).status;
    EXPECT_NE(status, ParseStatus::kMalformed);
    if (status != ParseStatus::kRefused) break;
    ++refused;
  }
  EXPECT_GT(refused, 40);
  EXPECT_GE(keeper->stats().instances_dropped, static_cast<uint64_t>(refused));
  Scope scope = MakeScope();
  EXPECT_EQ(Request(*keeper, scope)->numbers_size(), 0);
}

TEST_F(KeeperTest, AnInstanceReturnsWhenItsRequestWasMalformed) {
  const auto keeper = MakeKeeper(MakeOptions());
  {
    Scope scope = MakeScope();
    EXPECT_EQ(Parse(scope, test::Field(1, "text") + "\xff", *Request(*keeper, scope)).status,
              ParseStatus::kMalformed);
  }
  EXPECT_EQ(keeper->stats().instances_idle, 1u);
  Scope scope = MakeScope();
  EXPECT_EQ(Request(*keeper, scope)->text(), "");
}

}  // namespace
}  // namespace harena::pb
