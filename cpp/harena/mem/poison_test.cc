// What AddressSanitizer must report about memory that the pool and the arena recycle. Built with
// AddressSanitizer only; see CMakeLists.txt.
#include "harena/base/poison.h"

#include <gtest/gtest.h>

#include "harena/mem/arena.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"
#include "tests/safety_count.h"

#if !HARENA_ASAN
#error "poison_test.cc needs AddressSanitizer: configure with -DHARENA_SANITIZE=address"
#endif

namespace harena {
namespace {

constexpr char kReport[] = "AddressSanitizer: use-after-poison";

char Read(const void* data, size_t offset = 0) {
  return static_cast<const volatile char*>(data)[offset];
}
void Write(void* data, size_t offset) { static_cast<volatile char*>(data)[offset] = 1; }

class PoisonDeathTest : public testing::Test {
 protected:
  void TearDown() override {
    SafetyCount(HasFailure() ? "detectors_silent" : "detectors_fired", 1);
  }

  PagePool pool_{TestOptions()};
};

TEST_F(PoisonDeathTest, ReadOfABlockAfterFree) {
  for (const size_t bytes : {64 * kKiB, 4 * kMiB}) {
    const Block block = pool_.TryAllocate(bytes);
    Write(block.data, 0);
    Write(block.data, block.bytes - 1);
    pool_.Free(block.data, block.bytes);
    EXPECT_DEATH(Read(block.data), kReport);
    EXPECT_DEATH(Read(block.data, block.bytes - 1), kReport);
  }
}

TEST_F(PoisonDeathTest, ReadOfABlockInTheCentralListAndAfterDecay) {
  const Block held = pool_.TryAllocate(1);  // keeps the region
  const Block block = pool_.TryAllocate(1);
  pool_.Free(block.data, block.bytes);
  pool_.Trim();
  EXPECT_DEATH(Read(block.data), kReport);
  pool_.Free(held.data, held.bytes);
}

TEST_F(PoisonDeathTest, ReadOfABlockThatWasNeverHandedOut) {
  const Block block = pool_.TryAllocate(1);
  EXPECT_DEATH(Read(block.data, block.bytes), kReport);
  pool_.Free(block.data, block.bytes);
}

TEST_F(PoisonDeathTest, WriteToABlockThatAnotherThreadFreed) {
  const Block block = pool_.TryAllocate(1);
  Worker worker;
  worker.Run([&] { pool_.Free(block.data, block.bytes); });
  EXPECT_TRUE(IsPoisoned(block.data));
  EXPECT_TRUE(IsPoisoned(static_cast<char*>(block.data) + block.bytes - 1));
}

TEST_F(PoisonDeathTest, ABlockGivenBackTwice) {
  Worker worker;
  for (const size_t bytes : {64 * kKiB, 4 * kMiB}) {
    const Block held = pool_.TryAllocate(bytes);  // keeps the region
    const Block block = pool_.TryAllocate(bytes);
    worker.Run([&] { pool_.Free(block.data, block.bytes); });
    EXPECT_DEATH(pool_.Free(block.data, block.bytes), "given back twice|give it back.*once");
    pool_.Free(held.data, held.bytes);
  }
}

TEST_F(PoisonDeathTest, WritePastAnArenaAllocation) {
  Arena arena({.pool = &pool_});
  for (const size_t bytes : {1, 8, 13, 64, 1000, 100'000}) {
    char* data = static_cast<char*>(arena.Allocate(bytes));
    static_cast<void>(arena.Allocate(8));  // a neighbour, so that the next bytes are taken
    Write(data, bytes - 1);
    EXPECT_DEATH(Write(data, bytes), kReport);
    EXPECT_DEATH(Write(data, bytes + 15), kReport);
  }
}

TEST_F(PoisonDeathTest, ReadOfArenaMemoryAfterReset) {
  for (const Retain retain : {Retain::kFirstBlock, Retain::kNothing}) {
    Arena arena({.pool = &pool_});
    char* small = static_cast<char*>(arena.Allocate(100));
    char* large = static_cast<char*>(arena.Allocate(300 * kKiB));
    arena.Reset(retain);
    EXPECT_DEATH(Read(small), kReport);
    EXPECT_DEATH(Read(small, 99), kReport);
    EXPECT_DEATH(Read(large, 200 * kKiB), kReport);
  }
}

TEST_F(PoisonDeathTest, ReadOfArenaMemoryInTheCallersBlockAfterReset) {
  const Block block = pool_.TryAllocate(1);
  {
    Arena arena({.pool = &pool_}, block, 64);
    char* data = static_cast<char*>(arena.Allocate(100));
    arena.Reset();
    Write(block.data, 63);
    EXPECT_DEATH(Read(data), kReport);
    EXPECT_DEATH(Read(block.data, block.bytes - 1), kReport);
  }
  EXPECT_FALSE(IsPoisoned(static_cast<char*>(block.data) + 100));
  pool_.Free(block.data, block.bytes);
}

TEST_F(PoisonDeathTest, ReadOfAnArenaAfterItsEnd) {
  char* data = nullptr;
  {
    Arena arena({.pool = &pool_});
    data = static_cast<char*>(arena.Allocate(100));
  }
  EXPECT_DEATH(Read(data), kReport);
}

TEST(Poison, RecycledBlocksAreUsableFromEndToEnd) {
  PagePool pool(TestOptions());
  for (int round = 0; round < 3; ++round) {
    for (const size_t bytes : {64 * kKiB, kMiB, 40 * kMiB}) {
      const Block block = pool.TryAllocate(bytes);
      for (size_t at = 0; at < block.bytes; at += 4096)
        ASSERT_FALSE(IsPoisoned(static_cast<char*>(block.data) + at));
      pool.Free(block.data, block.bytes);
    }
    pool.Trim();
  }
}

TEST(Poison, UnmappedRegionsLeaveNoPoisonBehind) {
  void* address = nullptr;
  {
    PagePool pool(TestOptions());
    const Block block = pool.TryAllocate(1);
    address = block.data;
    pool.Free(block.data, block.bytes);
  }
  EXPECT_FALSE(IsPoisoned(address));
}

}  // namespace
}  // namespace harena
