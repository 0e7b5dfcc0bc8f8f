#include "harena/mem/arena_resource.h"

#include <map>
#include <memory_resource>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"

namespace harena {
namespace {

TEST(ArenaResource, StandardContainersLiveOnTheArena) {
  PagePool pool(TestOptions());
  Arena arena({.pool = &pool});
  ArenaResource resource(arena);
  {
    std::pmr::vector<std::pmr::string> words(&resource);
    std::pmr::map<int, std::pmr::string> by_number(&resource);
    std::pmr::unordered_map<std::pmr::string, int> by_word(&resource);
    for (int i = 0; i < 2000; ++i) {
      const std::string word = "a word too long for the string itself: " + std::to_string(i);
      words.emplace_back(word);
      by_number.emplace(i, word);
      by_word.emplace(word, i);
    }
    EXPECT_EQ(PagePool::OwnerOf(words.data()), &pool);
    EXPECT_EQ(PagePool::OwnerOf(words[7].data()), &pool);
    EXPECT_EQ(PagePool::OwnerOf(by_number.at(5).data()), &pool);
    for (int i = 0; i < 2000; ++i) {
      const auto number = static_cast<size_t>(i);
      ASSERT_EQ(words[number], by_number.at(i));
      ASSERT_EQ(by_word.at(words[number]), i);
    }
  }
  EXPECT_GT(arena.bytes_used(), 2000 * 3 * 40u);
  arena.Reset(Retain::kNothing);
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(ArenaResource, ThrowsABadAllocThatNamesTheLimit) {
  PagePool pool(TestOptions());
  Budget budget("request_bytes_max", 128 * kKiB);
  Arena arena({.pool = &pool, .budget = &budget});
  ArenaResource resource(arena);
  std::pmr::vector<char> bytes(&resource);
  EXPECT_THROW(bytes.resize(kMiB), std::bad_alloc);
  EXPECT_THROW(bytes.resize(kMiB), BudgetExceeded);
  bytes.resize(1000);
  EXPECT_EQ(bytes.size(), 1000u);
}

TEST(ArenaResource, IsEqualToItselfAlone) {
  PagePool pool(TestOptions());
  Arena arena({.pool = &pool});
  ArenaResource one(arena);
  ArenaResource two(arena);
  EXPECT_TRUE(one == one);
  EXPECT_FALSE(one == two);
  EXPECT_FALSE(one == *std::pmr::new_delete_resource());
}

}  // namespace
}  // namespace harena
