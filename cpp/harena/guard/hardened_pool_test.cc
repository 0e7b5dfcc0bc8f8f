// Hardened pools: what they fence, what they wipe, and what they stop for. Each part alone and all.
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "harena/base/poison.h"
#include "harena/guard/fault_reporter.h"
#include "harena/guard/hardening.h"
#include "harena/guard/quarantine.h"
#include "harena/mem/arena.h"
#include "harena/mem/failing_page_source.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"
#include "harena/mem/test_pool_peer.h"
#include "tests/safety_count.h"

namespace harena {

namespace {

struct Parts {
  bool guard, wipe, check;
};

PagePoolOptions With(const Parts& parts) {
  PagePoolOptions options = TestOptions();
  options.guard_pages = parts.guard;
  options.wipe_on_release = parts.wipe;
  options.check_free_lists = parts.check;
  return options;
}
constexpr Parts kGuard = {true, false, false};
constexpr Parts kWipe = {false, true, false};
constexpr Parts kCheck = {false, false, true};
constexpr Parts kAll = {true, true, true};

std::string NameOf(const testing::TestParamInfo<Parts>& info) {
  return std::string(info.param.guard ? "Guard" : "") + (info.param.wipe ? "Wipe" : "") +
         (info.param.check ? "Check" : "");
}

char* At(const Block& block, size_t offset) { return static_cast<char*>(block.data) + offset; }
void Write(const Block& block, ptrdiff_t offset) {
  *const_cast<volatile char*>(static_cast<char*>(block.data) + offset) = 1;
}
bool IsZero(const Block& block) {
  return *At(block, 0) == 0 && std::memcmp(block.data, At(block, 1), block.bytes - 1) == 0;
}

class HardenedPool : public testing::TestWithParam<Parts> {};
INSTANTIATE_TEST_SUITE_P(Parts, HardenedPool,
                         testing::Values(kGuard, kWipe, kCheck, Parts{true, false, true},
                                         Parts{false, true, true}, kAll),
                         NameOf);

// Through caches, lists, eviction and decay: nothing is lost, nothing overlaps, no false alarm.
TEST_P(HardenedPool, RandomUseRaisesNoAlarm) {
  PagePoolOptions options = With(GetParam());
  options.retained_bytes_max = 2 * kMiB;
  options.thread_cache_bytes_max = kMiB;
  PagePool pool(options);
  Worker worker;
  std::mt19937 random(7);
  std::vector<std::pair<Block, uint64_t>> held;
  const auto free_one = [&] {
    std::swap(held[random() % held.size()], held.back());
    const auto [block, stamp] = held.back();
    held.pop_back();
    ASSERT_TRUE(HasStamp(block.data, block.bytes, stamp));
    const Block freed = block;
    if (random() % 4 == 0) {
      worker.Run([&] { pool.Free(freed.data, freed.bytes); });
    } else {
      pool.Free(freed.data, freed.bytes);
    }
  };
  for (uint64_t i = 0; i < 2000; ++i) {
    if (held.size() < 40 && random() % 2 == 0) {
      const Block block = pool.TryAllocate(size_t{1} << (random() % 23));
      ASSERT_TRUE(block);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(block.data) % 4096, 0u);
      ASSERT_EQ(PagePool::OwnerOf(block.data), &pool);
      if (GetParam().wipe) {
        ASSERT_TRUE(IsZero(block));
      }
      Stamp(block.data, block.bytes, i);
      held.emplace_back(block, i);
    } else if (!held.empty()) {
      free_one();
    }
    if (i % 100 == 0) {
      test_now_ms += 700;
      worker.Run([&] { ASSERT_TRUE(AddsUp(pool.stats())); });
    }
    if (i % 500 == 0) pool.Trim();
  }
  while (!held.empty()) free_one();
  EXPECT_TRUE(AddsUp(pool.stats()));
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST_P(HardenedPool, LargeBlocksAreGivenAndTakenBack) {
  PagePool pool(With(GetParam()));
  for (int round = 0; round < 2; ++round) {
    for (const size_t bytes : {2 * kMiB, 32 * kMiB, 33 * kMiB}) {
      const Block block = pool.TryAllocate(bytes);
      ASSERT_TRUE(block);
      ASSERT_GE(block.bytes, bytes);
      Write(block, 0);
      Write(block, static_cast<ptrdiff_t>(block.bytes) - 1);
      pool.Free(block.data, block.bytes);
    }
    pool.Trim();
    EXPECT_EQ(pool.stats().bytes_mapped, 0u);
  }
}

TEST_P(HardenedPool, QuarantineWorksBesides) {
  PagePool pool(With(GetParam()));
  const Block block = guard::QuarantineOf(pool)->TryAllocate(1);
  ASSERT_TRUE(block);
  Write(block, 0);
  guard::QuarantineOf(pool)->Free(block.data, block.bytes);
  EXPECT_EQ(ExplainAddress(block.data).kind, FaultyAddress::Kind::kEnded);
}

TEST(HardenedPoolGuards, AreInNoCountAndBetweenAllBlocks) {
  PagePool pool(With(kGuard));
  std::vector<Block> blocks;
  while (pool.stats().regions_mapped < 2) {
    blocks.push_back(pool.TryAllocate(64 * kKiB));
    ASSERT_TRUE(blocks.back());
    using Kind = FaultyAddress::Kind;
    EXPECT_EQ(ExplainAddress(At(blocks.back(), 0)).kind, Kind::kUnknown);
    EXPECT_EQ(ExplainAddress(At(blocks.back(), blocks.back().bytes - 1)).kind, Kind::kUnknown);
    EXPECT_EQ(ExplainAddress(At(blocks.back(), blocks.back().bytes)).kind, Kind::kGuard);
    EXPECT_EQ(ExplainAddress(static_cast<char*>(blocks.back().data) - 1).kind, Kind::kGuard);
  }
  EXPECT_EQ(blocks.size(), 31u);  // 30 in a region instead of 32
  EXPECT_TRUE(AddsUp(pool.stats()));
  EXPECT_EQ(pool.stats().bytes_in_use, 31 * 64 * kKiB);
  for (const Block& block : blocks) pool.Free(block.data, block.bytes);
}

// What the source gives may be given to others afterwards, who want to touch all of it.
TEST(HardenedPoolGuards, AreGoneWhenTheSourceGetsItsMemoryBack) {
  struct Source : SystemPageSource {
    void Unmap(void* data, size_t bytes) noexcept {
      for (size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(data)[at] = 1;
      SystemPageSource::Unmap(data, bytes);
    }
  };
  Source source;
  PagePool pool(With(kGuard), source);
  for (const size_t bytes : {size_t{1}, 4 * kMiB, 40 * kMiB}) {
    const Block block = pool.TryAllocate(bytes);
    pool.Free(block.data, block.bytes);
  }
}

TEST(HardenedPoolWipes, NothingOfABlockIsLeftForTheNextUser) {
  for (const Parts& parts : {kWipe, kAll}) {
    PagePool pool(With(parts));
    for (const size_t bytes : {size_t{1}, 128 * kKiB, 4 * kMiB, 40 * kMiB}) {
      const void* first = nullptr;
      for (int round = 0; round < 3; ++round) {
        const Block block = pool.TryAllocate(bytes);
        ASSERT_TRUE(IsZero(block));
        if (bytes <= 4 * kMiB) {
          ASSERT_TRUE(first == nullptr || first == block.data);  // or nothing is shown
        }
        first = block.data;
        std::memset(block.data, 0x5e, block.bytes);
        pool.Free(block.data, block.bytes);
      }
    }
  }
}

// At once, and not only when somebody asks for the block.
TEST(HardenedPoolWipes, AsTheBlockComesBack) {
  for (const bool wipe : {false, true}) {
    PagePool pool(With({false, wipe, false}));
    const Block block = pool.TryAllocate(1);
    std::memset(block.data, 0x5e, block.bytes);
    pool.Free(block.data, block.bytes);
    Unpoison(block.data, block.bytes);
    EXPECT_EQ(IsZero(block), wipe);
    Poison(block.data, block.bytes);
  }
}

// The blocks that an arena keeps are its user's no longer either.
TEST(HardenedPoolWipes, WhatAnArenaKeepsOverItsReset) {
  for (const bool wipe : {false, true}) {
    PagePool pool(With({false, wipe, false}));
    const Block given = pool.TryAllocate(1);
    {
      Arena own({.pool = &pool});
      Arena in_given({.pool = &pool}, given, 64);
      for (Arena* arena : {&own, &in_given}) {
        for (const size_t more_bytes : {size_t{0}, 500 * kKiB}) {
          const Block data{arena->Allocate(1000), 1000};
          std::memset(data.data, 0x5e, data.bytes);
          if (more_bytes != 0) std::memset(arena->Allocate(more_bytes), 0x5e, more_bytes);
          arena->Reset();
          Unpoison(data.data, data.bytes);
          EXPECT_EQ(IsZero(data), wipe);
          Poison(data.data, data.bytes);
        }
      }
    }
    pool.Free(given.data, given.bytes);
  }
}

TEST(HardenedPoolGuards, AreRefusedWithTheMemoryWhereTheSourceHasNone) {
  FailingPageSource source;
  {
    PagePool pool(With(kAll), source);
    for (const size_t bytes : {size_t{1}, 40 * kMiB}) {
      source.FailAfter(0);
      EXPECT_FALSE(pool.TryAllocate(bytes));
      source.Heal();
      const Block block = pool.TryAllocate(bytes);
      ASSERT_TRUE(block);
      pool.Free(block.data, block.bytes);
    }
  }
  EXPECT_EQ(source.mapped_bytes(), 0);
}

// ThreadSanitizer maps memory of its own all the time, and dies when it gets none.
#ifdef __has_feature
#define HARENA_TEST_HAS_FEATURE(feature) __has_feature(feature)
#else
#define HARENA_TEST_HAS_FEATURE(feature) 0
#endif
#if !defined(__SANITIZE_THREAD__) && !HARENA_TEST_HAS_FEATURE(thread_sanitizer)
// A process may have so many mappings, and each guard makes two more.
[[noreturn]] void RunOutOfMappings() {
  constexpr size_t kPages = 200'000;
  char* const many = static_cast<char*>(
      mmap(nullptr, kPages * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  FailingPageSource source;
  PagePool pool(With(kGuard), source);
  size_t page = 0;
  while (page < kPages && mprotect(many + page * 4096, 4096, PROT_READ) == 0) page += 2;
  if (page >= kPages) _exit(2);  // no limit here
  int refused = 0;
  Block block;
  while (page >= 2 && !(block = pool.TryAllocate(1))) {
    if (source.mapped_bytes() != 0) _exit(3);
    ++refused;
    page -= 2;
    if (mprotect(many + page * 4096, 4096, PROT_NONE) != 0) _exit(4);
  }
  if (!block || refused < 10) _exit(5);
  pool.Free(block.data, block.bytes);
  _exit(0);
}

TEST(HardenedPoolGuards, AreRefusedWithTheMemoryWhereTheSystemHasNoMappings) {
  EXPECT_EXIT(RunOutOfMappings(), testing::ExitedWithCode(0), "");
}
#endif

class HardenedPoolDeathTest : public testing::Test {
 protected:
  HardenedPoolDeathTest() { GTEST_FLAG_SET(death_test_style, "fast"); }
  void TearDown() override {
    SafetyCount(HasFailure() ? "detectors_silent" : "detectors_fired", 1);
  }
};

// ASan looks first where the block is one of many; a block of its own faults there too.
std::string GuardHit([[maybe_unused]] const char* access, [[maybe_unused]] const char* where) {
#if HARENA_ASAN
  return "AddressSanitizer";
#else
  return std::string("FAULT: ") + access + " outside of a block: a guard page was hit.*" + where;
#endif
}

TEST_F(HardenedPoolDeathTest, AnOverflowOutOfABlockFaultsAtOnce) {
  PagePool pool(With(kGuard));
  for (const size_t bytes : {size_t{1}, kMiB, 4 * kMiB, 40 * kMiB}) {
    const Block block = pool.TryAllocate(bytes);
    const auto end = static_cast<ptrdiff_t>(block.bytes);
    Write(block, end - 1);
    EXPECT_DEATH(
        {
          InstallFaultReporter();
          Write(block, end);
        },
        GuardHit("write", ", 0 bytes behind a block of"));
    EXPECT_DEATH(
        {
          InstallFaultReporter();
          std::memset(block.data, 1, block.bytes + 5000);
        },
        GuardHit("write", "bytes behind a block of"));
    pool.Free(block.data, block.bytes);
  }
}

TEST_F(HardenedPoolDeathTest, AnUnderflowOutOfABlockFaultsAtOnce) {
  PagePool pool(With(kGuard));
  const Block first = pool.TryAllocate(1);
  const Block second = pool.TryAllocate(1);
  const Block large = pool.TryAllocate(40 * kMiB);
  for (const Block& block : {first, second, large}) {
    EXPECT_DEATH(
        {
          InstallFaultReporter();
          static_cast<void>(*const_cast<const volatile char*>(At(block, 0) - 1));
        },
        GuardHit("read", "behind a block of 65536|before the first block"));
    pool.Free(block.data, block.bytes);
  }
}

#if !HARENA_ASAN
TEST_F(HardenedPoolDeathTest, WithoutTheReporterTheProcessDiesToo) {
  PagePool pool(With(kGuard));
  const Block block = pool.TryAllocate(1);
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);  // other sanitizers have a handler too
        Write(block, 65536);
      },
      testing::KilledBySignal(SIGSEGV), "");
  pool.Free(block.data, block.bytes);
}
#endif

TEST_F(HardenedPoolDeathTest, ABlockGivenBackTwiceStops) {
  for (const Parts& parts : {kCheck, kAll}) {
    PagePool pool(With(parts));
    for (const size_t bytes : {size_t{1}, kMiB}) {
      const Block held = pool.TryAllocate(1);  // keeps the region
      const Block block = pool.TryAllocate(bytes);
      pool.Free(block.data, block.bytes);
      EXPECT_DEATH(pool.Free(block.data, block.bytes), "given back twice|give it back.*once");
      EXPECT_DEATH(
          {
            pool.Trim();
            pool.Free(block.data, block.bytes);
          },
          "given back twice|give it back.*once");
      pool.Free(held.data, held.bytes);
    }
  }
}

TEST_F(HardenedPoolDeathTest, ABlockGivenBackOnTwoThreadsStops) {
  PagePool pool(With(kCheck));
  Worker worker;
  const Block block = pool.TryAllocate(1);
  worker.Run([&] { pool.Free(block.data, block.bytes); });
  EXPECT_DEATH(pool.Free(block.data, block.bytes), "given back twice");
}

TEST_F(HardenedPoolDeathTest, ABlockOfAnotherPoolStops) {
  PagePool pool(With(kAll));
  PagePool other(With(kAll));
  const Block block = other.TryAllocate(1);
  EXPECT_DEATH(pool.Free(block.data, block.bytes), "give it back to the pool it came from");
  EXPECT_DEATH(other.Free(At(block, 4096), block.bytes), "not the start of a block");
  EXPECT_DEATH(other.Free(block.data, kMiB), "with the size it was allocated with");
  int elsewhere = 0;
  EXPECT_DEATH(pool.Free(&elsewhere, 1), "this address is not a block of this pool");
  other.Free(block.data, block.bytes);
}

// The next user is told, before it uses the block.
TEST_F(HardenedPoolDeathTest, AWriteToAFreeBlockStops) {
  for (const Parts& parts : {kCheck, kAll}) {
    PagePool pool(With(parts));
    const Block block = pool.TryAllocate(1);
    for (const size_t offset : {0, 8, 15, 16, 100, 4095}) {
      if (offset > 15 && !parts.wipe) continue;  // what was there before is not known
      EXPECT_DEATH(
          {
            pool.Free(block.data, block.bytes);
            Unpoison(block.data, block.bytes);  // ASan would stop the write itself
            *At(block, offset) ^= 0x40;
            static_cast<void>(pool.TryAllocate(1));
          },
          "somebody wrote to a free block");
    }
    pool.Free(block.data, block.bytes);
  }
}

// Marks are encoded: one that was read elsewhere is of no use here, nor are zeroes.
TEST_F(HardenedPoolDeathTest, AMarkCannotBeForged) {
  PagePool pool(With(kCheck));
  PagePool other(With(kCheck));
  const Block block = pool.TryAllocate(1);
  const Block foreign = other.TryAllocate(1);
  char mark[16];
  other.Free(foreign.data, foreign.bytes);
  Unpoison(foreign.data, sizeof(mark));
  std::memcpy(mark, foreign.data, sizeof(mark));
  Poison(foreign.data, sizeof(mark));
  char zeroes[16] = {};
  for (const char* forged : {mark, zeroes}) {
    EXPECT_DEATH(
        {
          pool.Free(block.data, block.bytes);
          Unpoison(block.data, block.bytes);
          std::memcpy(block.data, forged, sizeof(mark));
          static_cast<void>(pool.TryAllocate(1));
        },
        "somebody wrote to a free block");
  }
  pool.Free(block.data, block.bytes);
}

TEST_F(HardenedPoolDeathTest, AnOverwrittenListOfFreeBlocksStops) {
  PagePool pool(With(kCheck));
  const Block held = pool.TryAllocate(1);
  const Block block = pool.TryAllocate(1);
  alignas(4096) static char elsewhere[65536];
  pool.Free(block.data, block.bytes);
  const auto take_after = [&](void* entry) {
    // The list that a wild write would hit.
    PagePoolPeer::NewestInCache(pool) = entry;
    static_cast<void>(pool.TryAllocate(1));
  };
  EXPECT_DEATH(take_after(elsewhere), "list of free blocks was overwritten: what it names is no");
  EXPECT_DEATH(take_after(At(block, 4096)),
               "list of free blocks was overwritten: what it names is no");
  EXPECT_DEATH(take_after(held.data),
               "list of free blocks was overwritten: what it names is in use");
  pool.Free(held.data, held.bytes);
}

TEST(HardenedPoolOptions, GuardPagesAndHugePagesExcludeEachOther) {
  PagePoolOptions options = PagePoolOptions::Hardened();
  EXPECT_EQ(options.Validate(), std::nullopt);
  options.huge_pages = HugePages::kAdvise;
  ASSERT_TRUE(options.Validate());
  EXPECT_NE(options.Validate()->find("guard_pages and huge_pages exclude each other"),
            std::string::npos);
}

TEST(HardenedPoolOptions, TheProcessHasAHardenedPool) {
  PagePool& pool = guard::HardenedPool();
  EXPECT_EQ(&pool, &guard::HardenedPool());
  EXPECT_NE(&pool, &PagePool::Default());
  EXPECT_TRUE(pool.options().guard_pages && pool.options().wipe_on_release &&
              pool.options().check_free_lists);
}

}  // namespace
}  // namespace harena
