// "A budget is never exceeded by more than one page", for wire that was made to exceed it.
#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/parse/parse.h"
#include "harena/pb/parse/test_stream.h"
#include "harena/pb/wire/test_wire.h"
#include "harena/scope/scope_pool.h"
#include "harena/test/shapes.pb.h"
#include "harena/test/shapes2.pb.h"
#include "harena/test/wide.pb.h"
#include "tests/safety_count.h"

namespace harena::pb {
namespace {

using google::protobuf::MessageLite;
using harena::test::Shapes;
using harena::test::Shapes2;
using harena::test::WideList;
using test::Field;
using test::Number;
using test::Repeat;
using test::Tag;

constexpr size_t kPageBytes = 64 * kKiB;

struct HostileWire {
  std::string name;
  const MessageLite* prototype;
  std::string wire;
};

std::string MapFlood(bool same_key) {
  std::string out;
  for (int i = 0; i < 20'000; ++i) {
    out += Field(11, Field(1, same_key ? "key" : "k" + std::to_string(i)) + Number(2, 1));
  }
  return out;
}

std::string DeepNesting() {
  std::string chain;
  for (int i = 0; i < 90; ++i) chain = Field(15, chain);
  return Repeat(chain, 200);
}

std::string UnknownFlood() {
  std::string out;
  for (uint32_t i = 0; i < 30'000; ++i) {
    out += i % 3 == 0 ? Number(1000 + i, i)
                      : (i % 3 == 1 ? Field(1000 + i, "unknown")
                                    : Tag(1000, test::kStartGroup) + Tag(1000, test::kEndGroup));
  }
  return out;
}

std::string PackedAndUnpacked() {
  const std::string packed = Repeat("\x01", 5000);
  return Repeat(Field(8, packed) + Number(8, 3) + Field(9, packed) + Number(9, 4), 30);
}

const std::vector<HostileWire>& HostileWires() {
  static const auto& shapes = Shapes::default_instance();
  static const auto& all = *new std::vector<HostileWire>{
      {"wide", &WideList::default_instance(), test::WideBomb()},
      {"empty_strings", &shapes, Repeat(Field(7, ""), 100'000)},
      {"short_strings", &shapes, Repeat(Field(7, "sixteen bytes..."), 20'000)},
      {"empty_children", &shapes, Repeat(Field(15, ""), 50'000)},
      {"leaves", &shapes, Repeat(Field(10, ""), 100'000)},
      {"deep", &shapes, DeepNesting()},
      {"map_same_key", &shapes, MapFlood(true)},
      {"map_new_keys", &shapes, MapFlood(false)},
      {"map_of_messages", &shapes, Repeat(Field(12, Field(2, "")), 50'000)},
      {"unknown", &shapes, UnknownFlood()},
      {"one_packed_array", &shapes, Field(8, Repeat("\x01", 3'000'000))},
      {"packed_and_unpacked", &shapes, PackedAndUnpacked()},
      {"groups", &Shapes2::default_instance(),
       Number(1, 1) + Repeat(Tag(4, test::kStartGroup) + Tag(4, test::kEndGroup), 100'000)},
      {"oneof_in_turn", &shapes, Repeat(Field(13, "text") + Number(14, 1), 50'000)},
  };
  return all;
}

class BudgetProperty : public testing::TestWithParam<std::tuple<Mode, size_t>> {
 protected:
  // A message for one request on `scope`, as the mode makes it.
  MessageLite* MakeMessage(Scope& scope, MessageKeeper& keeper, const MessageLite& prototype) {
    if (scope.mode() == Mode::kReuse) return keeper.Take(scope).request;
    MessageArena& messages = MessageArena::Of(scope);
    const BudgetFrame frame(scope.budget());
    return prototype.New(&messages.arena());
  }
};

TEST_P(BudgetProperty, NeverExceededByMoreThanAPage) {
  const auto& [mode, limit] = GetParam();
  int refused = 0;
  for (const HostileWire& hostile : HostileWires()) {
    PagePool pool(TestOptions());
    const Options options{
        .mode = mode, .request_bytes_max = limit, .reuse_bytes_max = limit, .page_pool = &pool};
    {
      MessageKeeper keeper(*hostile.prototype, Shapes::default_instance(), options);
      ScopePool scopes(options);
      for (int round = 0; round < 3; ++round) {
        // A kept instance counts with what protobuf asked for; a block of its own may be larger.
        const size_t rounding_bytes = pool.stats().bytes_in_use - keeper.stats().bytes_idle;
        const size_t malloced_before_bytes = ProcessBudget().bytes_used();
        Scope scope = scopes.Acquire();
        try {
          MessageLite* message = MakeMessage(scope, keeper, *hostile.prototype);
          test::ChunkedStream stream(hostile.wire, round == 1 ? 1000 : hostile.wire.size());
          const ParseResult result = Parse(scope, stream, hostile.wire.size(), *message);
          EXPECT_NE(result.status, ParseStatus::kMalformed) << hostile.name;
          refused += result.status == ParseStatus::kRefused ? 1 : 0;
        } catch (const BudgetExceeded&) {
          ++refused;  // not even an empty message fits
        }
        EXPECT_LE(scope.budget().bytes_used(), limit + kPageBytes) << hostile.name;
        const size_t malloced_bytes = ProcessBudget().bytes_used() - malloced_before_bytes;
        EXPECT_LE(pool.stats().bytes_in_use + malloced_bytes, limit + kPageBytes + rounding_bytes)
            << hostile.name;
      }
    }
    EXPECT_EQ(pool.stats().bytes_in_use, 0u) << hostile.name;
  }
  EXPECT_GT(refused, 10);
  SafetyCount("inputs_tried", 3 * HostileWires().size());
  SafetyCount("budgets_refused", refused);
}

std::string ModeAndLimit(const testing::TestParamInfo<std::tuple<Mode, size_t>>& info) {
  return std::string(ToString(std::get<0>(info.param))) + "_" +
         std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, BudgetProperty,
                         testing::Combine(testing::Values(Mode::kArena, Mode::kPages),
                                          testing::Values(kPageBytes, 100'000, 300'000, kMiB,
                                                          3'000'000)),
                         ModeAndLimit);
// A kept pair has a page of its own beside the scope's.
INSTANTIATE_TEST_SUITE_P(Reuse, BudgetProperty,
                         testing::Combine(testing::Values(Mode::kReuse),
                                          testing::Values(2 * kPageBytes, 300'000, kMiB,
                                                          3'000'000)),
                         ModeAndLimit);

// 276 MB from 200 KB, were it let.
TEST(Budget, TheBombStopsAtItsLimitAndTheNextRequestIsServed) {
  PagePool pool(TestOptions());
  ScopePool scopes({.request_bytes_max = 16 * kMiB, .page_pool = &pool});
  const std::string wire = test::WideBomb();
  EXPECT_EQ(wire.size(), 200'000u);
  for (int i = 0; i < 3; ++i) {
    {
      Scope scope = scopes.Acquire();
      EXPECT_EQ(Parse(scope, wire, *scope.CreateMessage<WideList>()).status, ParseStatus::kRefused);
      // What a piece may take beside is held while it is parsed, a fifth of what is left at first.
      EXPECT_GE(pool.stats().bytes_in_use, 12 * kMiB);
    }
    EXPECT_EQ(pool.stats().bytes_in_use, 0u);
    Scope next = scopes.Acquire();
    EXPECT_TRUE(Parse(next, test::WideBomb(10), *next.CreateMessage<WideList>()));
  }
  EXPECT_LE(pool.stats().bytes_mapped, 16 * kMiB + 2 * 2 * kMiB);  // regions of 2 MiB
}

// The exception leaves protobuf's parser wherever it stands; ASan and LSan watch.
TEST(Budget, ThreeThousandThrowsAtDifferentDepths) {
  PagePool pool(TestOptions());
  const auto& wires = HostileWires();
  size_t over_bytes_max = 0;
  int refused = 0;
  for (size_t i = 0; i < 3000; ++i) {
    const HostileWire& hostile = wires[i % wires.size()];
    // A part of the wire, so that other structures are open when the limit comes.
    const size_t limit = kPageBytes + 4096 + i * 97 % (2 * kPageBytes);
    Scope scope({.request_bytes_max = limit,
                 .page_pool = &pool,
                 .mode = i % 2 == 0 ? Mode::kPages : Mode::kArena});
    const std::string_view wire =
        std::string_view(hostile.wire).substr(0, std::min<size_t>(hostile.wire.size(), 30'000));
    MessageArena& messages = MessageArena::Of(scope);
    MessageLite* message = hostile.prototype->New(&messages.arena());
    refused += Parse(scope, wire, *message).status == ParseStatus::kRefused ? 1 : 0;
    const size_t used_bytes = std::max(scope.budget().bytes_used(), limit);
    over_bytes_max = std::max(over_bytes_max, used_bytes - limit);
  }
  EXPECT_GT(refused, 1500);
  SafetyCount("inputs_tried", 3000);
  SafetyCount("budgets_refused", refused);
  EXPECT_LE(over_bytes_max, kPageBytes);
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

// Parse, build a response, end; with the n-th request for memory failing, for every n.
TEST(ParseFailure, EveryAllocationFailingInTurn) {
  Shapes request;
  for (int i = 0; i < 3000; ++i) {
    request.add_leaves()->set_name("a leaf with a name of some length");
    (*request.mutable_counts())["key " + std::to_string(i)] = i;
  }
  const std::string wire = request.SerializeAsString();
  PagePoolOptions options = TestOptions();
  options.page_bytes = 4 * kKiB;
  options.block_bytes_max = 4 * kKiB;  // larger blocks are mapped one by one
  for (const Mode mode : {Mode::kPages, Mode::kReuse}) {
    bool done = false;
    int64_t successes = 0;
    for (; !done; ++successes) {
      ASSERT_LT(successes, 1000);
      FailingPageSource source;
      {
        PagePool pool(options, source);
        source.FailAfter(successes);
        const Options keeping{.mode = mode, .first_block_bytes_max = 4 * kKiB, .page_pool = &pool};
        MessageKeeper keeper(Shapes::default_instance(), Shapes::default_instance(), keeping);
        for (int round = 0; round < 2; ++round) {
          Refusal refusal;
          auto scope = Scope::TryMake({.page_pool = &pool, .mode = mode}, &refusal);
          if (!scope) continue;
          try {
            Shapes* parsed = nullptr;
            Shapes* response = nullptr;
            if (mode == Mode::kReuse) {
              const MessageKeeper::Pair pair = keeper.Take(*scope);
              parsed = static_cast<Shapes*>(pair.request);
              response = static_cast<Shapes*>(pair.response);
            } else {
              parsed = scope->CreateMessage<Shapes>();
              response = scope->CreateMessage<Shapes>();
            }
            if (!Parse(*scope, wire, *parsed)) continue;
            const BudgetFrame frame(scope->budget());
            response->CopyFrom(*parsed);
            done = response->SerializeAsString().size() == wire.size();
          } catch (const BudgetExceeded& exceeded) {
            EXPECT_STREQ(exceeded.refusal().limit, "memory");
          }
        }
      }
      EXPECT_EQ(source.mapped_bytes(), 0);
    }
    EXPECT_GT(successes, 5) << ToString(mode);
  }
}

}  // namespace
}  // namespace harena::pb
