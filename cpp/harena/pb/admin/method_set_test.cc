// What is done to all methods of a server at once.
#include "harena/pb/admin/method_set.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <google/protobuf/empty.pb.h>
#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/admin/served_methods.h"

namespace harena::pb {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

std::optional<std::string> NoReuse(const Options& options) {
  if (options.mode != Mode::kReuse) return std::nullopt;
  return "no reuse here";
}

class MethodSetTest : public ::testing::Test {
 protected:
  std::shared_ptr<Method> Add(const std::string& name, Options options = {}) {
    options.page_pool = &pool_;
    const auto& prototype = google::protobuf::Empty::default_instance();
    auto method =
        std::make_shared<Method>(name, options, prototype, prototype,
                                 MessageTypes{.why_not_reusable = std::nullopt, .codec = true});
    set_.Add(method);
    return method;
  }

  PagePool pool_{TestOptions()};
  MethodSet set_{"test", &NoReuse};
};

TEST_F(MethodSetTest, ChangesWhatMayChangeAndNothingElse) {
  const auto one = Add("one");
  const auto limits = [](Options& options) {
    options.depth_max = 7;
    options.decoded_ratio_max = 50;
    options.decoded_floor_bytes = 1000;
    options.first_block_bytes = 128 << 10;
  };
  EXPECT_EQ(set_.Change(limits), std::nullopt);
  const DecodeLimits held = one->scopes().options().decode_limits();
  EXPECT_EQ(held.depth_max, 7);
  EXPECT_EQ(held.ratio_max, 50);
  EXPECT_EQ(held.floor_bytes, 1000u);
  EXPECT_EQ(one->scopes().stats().first_block_bytes, size_t{128} << 10);
  EXPECT_EQ(set_.Change("one", [](Options& options) { options.first_block_bytes = 0; }),
            std::nullopt);
  EXPECT_LT(one->scopes().stats().first_block_bytes, size_t{128} << 10);
  const auto fixed = [&](auto edit) { return set_.Change("one", edit).value_or("changed"); };
  EXPECT_THAT(fixed([](Options& options) { options.reuse_instances_max = 1; }),
              HasSubstr("one: reuse_instances_max cannot be changed"));
  EXPECT_THAT(fixed([](Options& options) { options.page_pool = nullptr; }), HasSubstr("page_pool"));
  EXPECT_THAT(fixed([](Options& options) { options.depth_max = -1; }), HasSubstr("depth_max"));
  EXPECT_EQ(one->scopes().options().depth_max, 7);
}

TEST_F(MethodSetTest, IsFoundWhilePublished) {
  const auto sets = [] {
    std::vector<std::string> names;
    ForEachServedMethods([&](ServedMethods& set) { names.emplace_back(set.framework()); });
    return names;
  };
  {
    Published published(set_);
    MethodSet other("other");
    Published second(other);
    EXPECT_THAT(sets(), ::testing::ElementsAre("test", "other"));
  }
  EXPECT_THAT(sets(), ::testing::IsEmpty());
}

TEST_F(MethodSetTest, FindsByName) {
  const auto one = Add("one");
  const auto two = Add("two");
  EXPECT_EQ(set_.Find("two"), two);
  EXPECT_EQ(set_.Find("three"), nullptr);
  EXPECT_THAT(set_.methods(), ::testing::ElementsAre(one, two));
  EXPECT_EQ(set_.stats().at(1).name, "two");
  EXPECT_EQ(set_.UnknownMethod("three"),
            "no covered method is named \"three\"; there are: one two");
}

TEST_F(MethodSetTest, ChangesAllOrNone) {
  const auto one = Add("one", {.mode = Mode::kPages});
  const auto two = Add("two", {.mode = Mode::kPages, .request_bytes_max = size_t{1} << 30});
  EXPECT_THAT(set_.SetMode(Mode::kHeap), Optional(AllOf(HasSubstr("two: "), HasSubstr("heap"))));
  EXPECT_EQ(one->scopes().mode(), Mode::kPages);
  EXPECT_EQ(set_.SetMode(Mode::kArena), std::nullopt);
  EXPECT_EQ(one->scopes().mode(), Mode::kArena);
  EXPECT_EQ(two->scopes().mode(), Mode::kArena);
  EXPECT_THAT(set_.SetRequestBytesMax(1), Optional(HasSubstr("one: request_bytes_max is 1")));
  EXPECT_EQ(two->scopes().options().request_bytes_max, size_t{1} << 30);
}

TEST_F(MethodSetTest, TheAdaptersCheckCountsToo) {
  const auto one = Add("one", {.mode = Mode::kPages});
  EXPECT_THAT(set_.SetMode(Mode::kReuse), Optional(std::string("one: no reuse here")));
  EXPECT_THAT(set_.SetMode("one", Mode::kReuse), Optional(std::string("one: no reuse here")));
  EXPECT_EQ(one->scopes().mode(), Mode::kPages);
}

TEST_F(MethodSetTest, SeveralServersChangeAllOrNone) {
  MethodSet other{"other", nullptr};
  const Published published(set_), other_published(other);
  const auto mine = Add("mine");
  const Options of_pool{.page_pool = &pool_};
  const auto& prototype = google::protobuf::Empty::default_instance();
  const auto theirs =
      std::make_shared<Method>("theirs", of_pool, prototype, prototype,
                               MessageTypes{.why_not_reusable = std::nullopt, .codec = true});
  other.Add(theirs);
  const auto reuse = [](Options& options) { options.mode = Mode::kReuse; };
  const auto pages = [](Options& options) { options.mode = Mode::kPages; };
  const auto wrong = [](Options& options) { options.depth_max = -1; };
  const auto before = theirs->scopes().mode();

  // By the adapter's check alone, after the other's change was made.
  auto refused = ChangeAll({{mine, pages}, {theirs, reuse}, {mine, reuse}});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->index, 2u);
  EXPECT_THAT(refused->reason, HasSubstr("mine: no reuse here"));
  EXPECT_EQ(theirs->scopes().mode(), before);
  EXPECT_EQ(mine->scopes().mode(), before);

  refused = ChangeAll({{mine, pages}, {theirs, wrong}});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->index, 1u);
  EXPECT_EQ(mine->scopes().mode(), before);

  EXPECT_FALSE(ChangeAll({{mine, pages}, {theirs, reuse}}));
  EXPECT_EQ(mine->scopes().mode(), Mode::kPages);
  EXPECT_EQ(theirs->scopes().mode(), Mode::kReuse);
}

TEST_F(MethodSetTest, OneMethod) {
  const auto one = Add("one", {.mode = Mode::kPages});
  const auto two = Add("two", {.mode = Mode::kPages});
  EXPECT_EQ(set_.SetMode("two", Mode::kHeap), std::nullopt);
  EXPECT_EQ(one->scopes().mode(), Mode::kPages);
  EXPECT_EQ(two->scopes().mode(), Mode::kHeap);
  EXPECT_EQ(set_.SetRequestBytesMax("one", size_t{1} << 30), std::nullopt);
  EXPECT_THAT(set_.SetRequestBytesMax("three", 1), Optional(HasSubstr("there are: one two")));
}

TEST_F(MethodSetTest, RefusalsAreCountedAndSaid) {
  const auto one = Add("one");
  const Refusal refusal{.limit = "request_bytes_max", .bytes_max = 5, .bytes_wanted = 7};
  EXPECT_EQ(one->Refuse(refusal), "harena: one: " + refusal.Message());
  EXPECT_EQ(one->stats().refused, 1u);
}

}  // namespace
}  // namespace harena::pb
