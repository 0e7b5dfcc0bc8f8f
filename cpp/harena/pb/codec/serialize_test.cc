#include "harena/pb/codec/serialize.h"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

#include "harena/guard/quarantine.h"
#include "harena/mem/budget.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/codec/test_safety.h"
#include "harena/pb/parse/parse.h"
#include "harena/scope/scope_pool.h"

namespace harena::pb::codec {
namespace {

class Serialize : public ::testing::Test {
 protected:
  Whole* Make(const std::string& name) {
    auto* message = scope_->CreateMessage<Whole>();
    Fill(*message, name, Length::kMiddle);
    return message;
  }
  // By protobuf's own code.
  static std::string StockBytes(const google::protobuf::Message& message) {
    const std::unique_ptr<google::protobuf::Message> copy(message.New());
    copy->CopyFrom(message);
    return BytesOf(*copy);
  }
  // Writes what was sized before, maybe by another thread.
  static std::string Written(const google::protobuf::Message& message) {
    std::string bytes(static_cast<size_t>(message.GetCachedSize()), '\0');
    auto* begin = reinterpret_cast<uint8_t*>(bytes.data());
    EXPECT_EQ(message.SerializeWithCachedSizesToArray(begin), begin + bytes.size());
    return bytes;
  }

  PagePool pool_{TestOptions()};
  std::optional<Scope> scope_{std::in_place,
                              ScopeOptions{.page_pool = &pool_, .mode = Mode::kCodec}};
};

TEST_F(Serialize, SizedAndWritten) {
  Whole& message = *Make("message");
  const std::string stock = StockBytes(message);
  EXPECT_EQ(message.ByteSizeLong(), stock.size());
  EXPECT_EQ(Written(message), stock);
  EXPECT_EQ(Written(message), stock);  // twice for one sizing
}

TEST_F(Serialize, SizedOnOneThreadAndWrittenOnAnother) {
  Whole& message = *Make("message");
  const std::string stock = StockBytes(message);
  EXPECT_EQ(message.ByteSizeLong(), stock.size());
  std::thread([&] { EXPECT_EQ(Written(message), stock); }).join();
  EXPECT_EQ(Written(message), stock);
}

TEST_F(Serialize, TwoSizedThenWrittenInTheOtherOrder) {
  Whole& one = *Make("one");
  Whole& two = *Make("two");
  two.add_texts("that the other one has not");
  const size_t size_one = one.ByteSizeLong();
  const size_t size_two = two.ByteSizeLong();
  EXPECT_NE(size_one, size_two);
  EXPECT_EQ(Written(one), StockBytes(one));
  EXPECT_EQ(Written(two), StockBytes(two));
  static_cast<void>(two.ByteSizeLong());
  static_cast<void>(one.ByteSizeLong());
  EXPECT_EQ(Written(one), StockBytes(one));
  EXPECT_EQ(Written(two), StockBytes(two));
}

TEST_F(Serialize, ChangedInBetween) {
  Whole& message = *Make("message");
  static_cast<void>(message.ByteSizeLong());
  message.set_text("another text, that is longer or shorter");
  EXPECT_EQ(BytesOf(message), StockBytes(message));
  static_cast<void>(message.ByteSizeLong());
  message.mutable_part()->set_name("changed");
  EXPECT_EQ(message.SerializeAsString().size(), StockBytes(message).size());
  EXPECT_EQ(BytesOf(message), StockBytes(message));
}

// What a thread has written of a message must not be used after another thread has sized it anew.
TEST_F(Serialize, ChangedAndSizedByAnotherThread) {
  Whole& message = *Make("message");
  static_cast<void>(message.ByteSizeLong());
  std::thread([&] {
    message.set_text(std::string(500, 'n'));
    static_cast<void>(message.ByteSizeLong());
  }).join();
  EXPECT_EQ(Written(message), StockBytes(message));
}

TEST_F(Serialize, APartThatAnotherThreadSizedWithItsWhole) {
  Whole& message = *Make("message");
  Part& part = *message.mutable_part();
  static_cast<void>(part.ByteSizeLong());
  std::thread([&] {
    part.set_name(std::string(500, 'n'));
    static_cast<void>(message.ByteSizeLong());
  }).join();
  EXPECT_EQ(Written(part), StockBytes(part));
}

TEST_F(Serialize, APartOfAnotherScopeThatAnotherThreadSizedWithItsWhole) {
  Whole& message = *Make("message");
  Scope other({.page_pool = &pool_, .mode = Mode::kCodec});
  Part* const part = other.CreateMessage<Part>();
  part->set_name("of the other scope");
  static_cast<void>(part->ByteSizeLong());
  std::thread([&] {
    part->set_name(std::string(500, 'n'));
    message.unsafe_arena_set_allocated_part(part);
    static_cast<void>(message.ByteSizeLong());
  }).join();
  EXPECT_EQ(Written(*part), StockBytes(*part));
  message.unsafe_arena_release_part();
}

TEST_F(Serialize, PartsKnowTheirSizesWhenTheWholeIsSized) {
  Whole& message = *Make("message");
  static_cast<void>(message.ByteSizeLong());
  Whole heap(message);
  static_cast<void>(heap.ByteSizeLong());
  EXPECT_EQ(message.part().GetCachedSize(), heap.part().GetCachedSize());
  EXPECT_EQ(message.part().inner().GetCachedSize(), heap.part().inner().GetCachedSize());
  EXPECT_EQ(message.parts(1).GetCachedSize(), heap.parts(1).GetCachedSize());
  EXPECT_EQ(message.any().GetCachedSize(), heap.any().GetCachedSize());
  EXPECT_EQ(message.part_by_name().begin()->second.GetCachedSize(),
            heap.part_by_name().begin()->second.GetCachedSize());
  EXPECT_EQ(Written(message.part()), StockBytes(heap.part()));
}

TEST_F(Serialize, AnotherMessageAtTheSameAddress) {
  const void* place = nullptr;
  for (int i = 0; i < 10; ++i) {
    scope_.emplace(ScopeOptions{.page_pool = &pool_, .mode = Mode::kCodec});
    Whole& message = *Make("message " + std::to_string(i));
    if (place == nullptr) place = &message;
    EXPECT_EQ(&message, place);
    if (i % 3 == 0) static_cast<void>(message.ByteSizeLong());  // and never written
    if (i % 3 == 1) {
      EXPECT_EQ(BytesOf(message), StockBytes(message)) << i;
    }
  }
}

TEST_F(Serialize, CodecMessagesInsideOfAStockOne) {
  // An extension set and a message on the heap are protobuf's; the parts live on the scope.
  auto& message = *scope_->CreateMessage<Whole2>();
  Fill(message, "message", Length::kMiddle);
  Fill(*message.MutableExtension(harena::test::safety::more), "more", Length::kMiddle);
  EXPECT_EQ(BytesOf(message), StockBytes(message));
  Whole2 heap;
  heap.unsafe_arena_set_allocated_whole(&message);
  EXPECT_EQ(BytesOf(heap), StockBytes(heap));
  static_cast<void>(heap.unsafe_arena_release_whole());
}

TEST_F(Serialize, AMessageOnTheHeapInsideOfACodecOne) {
  Whole& message = *Make("message");
  auto* part = new Part;
  Fill(*part, "of the heap", Length::kMiddle);
  message.set_allocated_part(part);
  EXPECT_EQ(BytesOf(message), StockBytes(message));
}

TEST_F(Serialize, RefusedMemoryGivesTheSameBytes) {
  scope_.emplace(ScopeOptions{.mode = Mode::kCodec});  // on a pool that the process's limit counts
  Whole& message = *Make("message");
  for (int i = 0; i < 300; ++i) Fill(*message.add_parts(), std::to_string(i), Length::kMiddle);
  (*message.mutable_words())["a"] = "b";
  const std::string stock = StockBytes(message);
  EXPECT_EQ(BytesOf(message), stock);
  PagePool::Default().Trim();
  const size_t limit_bytes = ProcessBudget().bytes_max();
  for (const size_t more_bytes : {size_t{0}, 64 * kKiB, 128 * kKiB, 256 * kKiB}) {
    ProcessBudget().set_bytes_max(ProcessBudget().bytes_used() + more_bytes);
    std::string bytes(stock.size(), '\0');
    const bool ok = message.SerializeToArray(bytes.data(), static_cast<int>(bytes.size()));
    const size_t size = message.ByteSizeLong();
    ProcessBudget().set_bytes_max(limit_bytes);
    EXPECT_TRUE(ok);
    EXPECT_EQ(size, stock.size());
    Whole back;
    ASSERT_TRUE(back.ParseFromString(bytes));
    EXPECT_EQ(BytesOf(back), stock);
  }
}

// Who asks for a size alone (for a log, a metric) leaves nothing behind the scope's end.
TEST_F(Serialize, SizedAndNeverWrittenKeepsNothingBehindTheScope) {
  const size_t before_bytes = PagePool::Default().stats().bytes_in_use;
  Whole& message = *Make("message");
  message.set_text(std::string(4 * kMiB, 'x'));
  EXPECT_GT(message.ByteSizeLong(), 4 * kMiB);
  scope_.reset();
  EXPECT_EQ(PagePool::Default().stats().bytes_in_use, before_bytes);
  EXPECT_EQ(pool_.stats().bytes_in_use, 0u);
}

// What is taken to write to is the scope's as what its messages take.
TEST_F(Serialize, BlocksThatWereWrittenToAreTheScopes) {
  ScopePool scopes({.mode = Mode::kCodec, .page_pool = &pool_});
  const uint64_t before = pool_.stats().blocks_freed;  // by the self-check
  {
    Scope scope = scopes.Acquire();
    auto* message = scope.CreateMessage<Whole>();
    message->set_text(std::string(kMiB, 'x'));
    EXPECT_GT(message->SerializeAsString().size(), kMiB);
    static_cast<void>(message->ByteSizeLong());  // and never written
  }
  EXPECT_GT(scopes.stats().blocks_sum, 2u);
  EXPECT_EQ(scopes.stats().blocks_sum, pool_.stats().blocks_freed - before);
}

// They would push out of the quarantine what is there to be found.
TEST_F(Serialize, NothingIsWrittenToBlocksOfAQuarantine) {
  ScopePool scopes({.mode = Mode::kCodec, .quarantine_one_in = 1, .page_pool = &pool_});
  const uint64_t before = guard::QuarantineStatsOf(pool_).blocks_entered;  // by the self-check
  {
    Scope scope = scopes.Acquire();
    auto* message = scope.CreateMessage<Whole>();
    Fill(*message, "message", Length::kMiddle);
    EXPECT_EQ(BytesOf(*message), StockBytes(*message));
    EXPECT_EQ(guard::QuarantineStatsOf(pool_).blocks_entered, before);
  }
  EXPECT_EQ(guard::QuarantineStatsOf(pool_).blocks_entered - before, scopes.stats().blocks_sum);
}

TEST_F(Serialize, EveryWayOut) {
  Whole& message = *Make("message");
  const std::string stock = StockBytes(message);
  std::string appended = "before";
  ASSERT_TRUE(message.AppendToString(&appended));
  EXPECT_EQ(appended.size(), stock.size() + 6);
  EXPECT_EQ(message.SerializeAsString().size(), stock.size());
  EXPECT_EQ(message.SerializePartialAsString().size(), stock.size());
  // One byte of room too few is an error and no overflow.
  std::vector<uint8_t> bytes(stock.size());
  EXPECT_FALSE(message.SerializeToArray(bytes.data(), static_cast<int>(bytes.size()) - 1));
  EXPECT_TRUE(message.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())));
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), stock);
}

TEST_F(Serialize, ManyThreadsAtOnce) {
  const Whole& message = *Make("message");
  const std::string stock = StockBytes(message);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        ASSERT_EQ(message.ByteSizeLong(), stock.size());
        ASSERT_EQ(BytesOf(message), stock);
        ASSERT_EQ(BytesOf(message.part()), BytesOf(message.part()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Serializes when the thread's own memory for it has ended already.
struct WritesLate {
  ~WritesLate() { EXPECT_EQ(BytesOf(*message), *bytes); }
  const Whole* message = nullptr;
  const std::string* bytes = nullptr;
};

TEST_F(Serialize, WhileTheThreadIsEnding) {
  const Whole& message = *Make("message");
  const std::string stock = StockBytes(message);
  std::thread([&] {
    thread_local WritesLate late;  // made first, so it ends last
    late = {&message, &stock};
    EXPECT_EQ(BytesOf(message), stock);
  }).join();
}

// Parses when the thread's own memory for it has ended already.
struct ParsesLate {
  ~ParsesLate() {
    Scope scope({.mode = Mode::kCodec});
    auto* message = scope.CreateMessage<Whole>();
    EXPECT_TRUE(message->ParseFromString(*bytes));
    const auto frozen = ParseFrozen<Whole>(scope, *bytes);
    EXPECT_TRUE(frozen && BytesOf(*frozen.message) == *bytes);
    EXPECT_EQ(BytesOf(*message), *bytes);
  }
  const std::string* bytes = nullptr;
};

TEST_F(Serialize, ParsingWhileTheThreadIsEnding) {
  Whole& message = *Make("message");
  for (int i = 0; i < 100; ++i) message.add_parts()->set_name("part");
  const std::string stock = StockBytes(message);
  std::thread([&] {
    thread_local ParsesLate late;
    late.bytes = &stock;
    Scope scope({.mode = Mode::kCodec});
    EXPECT_TRUE(ParseFrozen<Whole>(scope, stock));
  }).join();
}

}  // namespace
}  // namespace harena::pb::codec
