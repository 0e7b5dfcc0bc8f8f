// What is refused before tRPC ever sees it.
#include "harena/adapters/trpc/pages_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/mem/page_pool.h"

namespace harena::trpc {
namespace {

using google::protobuf::ArenaOptions;
using ::testing::HasSubstr;
using ::testing::Optional;

void* SomeAlloc(size_t) { return nullptr; }
void SomeDealloc(void*, size_t) {}

std::optional<std::string> ProblemOf(void (*change)(ArenaOptions&)) {
  ArenaOptions arena;
  change(arena);
  return PagesOptions{.arena = arena}.Validate();
}

TEST(PagesOptions, UnsetSizesAreThePools) {
  PagePool pool({.page_bytes = 16 << 10});
  const PagesOptions options{.page_pool = &pool};
  EXPECT_EQ(options.Validate(), std::nullopt);
  EXPECT_EQ(options.ForTrpc().start_block_size, 16u << 10);
  EXPECT_EQ(options.ForTrpc().max_block_size, 16u << 10);
  EXPECT_EQ(options.ForTrpc().initial_block, nullptr);
}

TEST(PagesOptions, SizesOfThePoolAreTaken) {
  ArenaOptions arena;
  arena.start_block_size = 128 << 10;
  EXPECT_EQ((PagesOptions{.arena = arena}.Validate()), std::nullopt);
  EXPECT_EQ((PagesOptions{.arena = arena}.ForTrpc().start_block_size), 128u << 10);
  EXPECT_EQ((PagesOptions{.arena = arena}.ForTrpc().max_block_size), 128u << 10);
  arena.max_block_size = 1 << 20;
  EXPECT_EQ((PagesOptions{.arena = arena}.Validate()), std::nullopt);
  EXPECT_EQ((PagesOptions{.arena = arena}.ForTrpc().max_block_size), 1u << 20);
}

TEST(PagesOptions, AnInitialBlockWouldBeEverybodys) {
  static char block[4096];
  EXPECT_THAT(ProblemOf([](ArenaOptions& arena) {
                arena.initial_block = block;
                arena.initial_block_size = sizeof(block);
              }),
              Optional(HasSubstr("all of them would write into that one block")));
}

TEST(PagesOptions, SizesThatArePartOfABlock) {
  // As the guide of tRPC-Cpp has it.
  EXPECT_THAT(ProblemOf([](ArenaOptions& arena) { arena.start_block_size = 10240; }),
              Optional(HasSubstr("arena.start_block_size is 10240 bytes, and the pool has blocks "
                                 "of 65536")));
  EXPECT_THAT(ProblemOf([](ArenaOptions& arena) { arena.max_block_size = 100'000; }),
              Optional(HasSubstr("arena.max_block_size is 100000 bytes")));
  EXPECT_THAT(ProblemOf([](ArenaOptions& arena) { arena.max_block_size = 64 << 20; }),
              Optional(HasSubstr("up to 33554432")));
  EXPECT_THAT(ProblemOf([](ArenaOptions& arena) {
                arena.start_block_size = 256 << 10;
                arena.max_block_size = 64 << 10;
              }),
              Optional(HasSubstr("max_block_size is below start_block_size")));
}

TEST(PagesOptions, HooksOfSomebodyElse) {
  EXPECT_THAT(ProblemOf([](ArenaOptions& arena) { arena.block_alloc = &SomeAlloc; }),
              Optional(HasSubstr("leave them out")));
  EXPECT_THAT(ProblemOf([](ArenaOptions& arena) { arena.block_dealloc = &SomeDealloc; }),
              Optional(HasSubstr("leave them out")));
}

TEST(PagesOptions, AnIntervalBelowZero) {
  EXPECT_THAT((PagesOptions{.decay_interval = std::chrono::milliseconds(-1)}.Validate()),
              Optional(HasSubstr("below zero")));
}

}  // namespace
}  // namespace harena::trpc
