#include "harena/guard/quarantine.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/base/compiler.h"
#include "harena/guard/fault_reporter.h"
#include "harena/mem/arena.h"
#include "harena/mem/page_pool.h"
#include "harena/mem/test_pool.h"
#include "tests/safety_count.h"

namespace harena {
namespace {

using Kind = FaultyAddress::Kind;

char Read(const void* data, size_t offset = 0) {
  return static_cast<const volatile char*>(data)[offset];
}
void Write(void* data, size_t offset) { static_cast<volatile char*>(data)[offset] = 1; }

PagePoolOptions Options(size_t bytes_max = 32 * kMiB) {
  PagePoolOptions options = TestOptions();
  options.quarantine_bytes_max = bytes_max;
  options.quarantine_for = std::chrono::seconds(60);
  return options;
}

ScopeEnd EndOf(std::string_view method, uint64_t scope_number) {
  ScopeEnd end;
  end.Note(method, scope_number);
  return end;
}

TEST(Quarantine, BlocksAreOfTheSameSizesAndChargedLikeOthers) {
  Budget budget("process_bytes_max");
  PagePoolOptions options = Options();
  options.budget = &budget;
  PagePool pool(options);
  PagePool& quarantine = *guard::QuarantineOf(pool);
  EXPECT_EQ(guard::QuarantineOf(pool), &quarantine);
  EXPECT_EQ(guard::QuarantineOf(quarantine), nullptr);
  for (const size_t bytes : {size_t{1}, 64 * kKiB, 65 * kKiB, 3 * kMiB, 40 * kMiB}) {
    const Block block = quarantine.TryAllocate(bytes);
    ASSERT_TRUE(block);
    EXPECT_EQ(block.bytes, pool.BlockBytes(bytes));
    EXPECT_EQ(budget.bytes_used(), block.bytes);
    EXPECT_EQ(guard::QuarantineStatsOf(pool).bytes_in_use, block.bytes);
    EXPECT_EQ(PagePool::OwnerOf(block.data), &quarantine);
    Stamp(block.data, block.bytes, bytes);
    EXPECT_TRUE(HasStamp(block.data, block.bytes, bytes));
    quarantine.Free(block.data, block.bytes);
    EXPECT_EQ(budget.bytes_used(), 0u);
    EXPECT_EQ(PagePool::OwnerOf(block.data), nullptr);
  }
  EXPECT_EQ(pool.stats().bytes_mapped, 0u);
}

// Whether the thread has a cache of the pool or not.
TEST(Quarantine, MovedBlocksAreNotThePools) {
  PagePool pool(TestOptions());
  const Block block = pool.TryAllocate(1);
  PagePool* const quarantine = guard::QuarantineOf(pool);
  ASSERT_NE(quarantine, nullptr);
  quarantine->CountMoved(1);
  EXPECT_EQ(pool.stats().blocks_moved, 0u);
  pool.Free(block.data, block.bytes);
}

// Asked by the kernel: no sanitizer minds.
bool CanBeRead(const void* data) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool readable = syscall(SYS_write, ends[1], data, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

const void* watched = nullptr;
int unexplained = 0;

// The pool looks at its clock in the middle of giving a block back.
uint64_t WatchingClock() {
  if (watched != nullptr && !CanBeRead(watched)) {
    unexplained += ExplainAddress(watched).kind == Kind::kUnknown;
  }
  return 0;
}

TEST(Quarantine, ABlockIsExplainedFromItsFirstFaultOn) {
  PagePoolOptions options = Options();
  options.now_ms = &WatchingClock;
  PagePool pool(options);
  const Block block = guard::QuarantineOf(pool)->TryAllocate(1);
  watched = block.data;
  EXPECT_TRUE(CanBeRead(watched));
  guard::QuarantineOf(pool)->Free(block.data, block.bytes);
  EXPECT_FALSE(CanBeRead(watched));
  EXPECT_EQ(ExplainAddress(watched).kind, Kind::kEnded);
  watched = nullptr;
  EXPECT_EQ(unexplained, 0);
}

TEST(Quarantine, NoAddressIsHandedOutAgainWhileItIsHeld) {
  PagePool pool(Options(100 * 64 * kKiB));
  std::vector<void*> held;
  for (int i = 0; i < 300; ++i) {
    const Block block = guard::QuarantineOf(pool)->TryAllocate(1);
    const size_t newest = held.size() < 99 ? 0 : held.size() - 99;
    for (size_t j = newest; j < held.size(); ++j) ASSERT_NE(held[j], block.data);
    Write(block.data, 0);
    guard::QuarantineOf(pool)->Free(block.data, block.bytes);
    held.push_back(block.data);
  }
  const QuarantineStats stats = guard::QuarantineStatsOf(pool);
  EXPECT_EQ(stats.blocks_entered, 300u);
  EXPECT_EQ(stats.blocks_held, 100u);
  EXPECT_EQ(stats.bytes_held, 100 * 64 * kKiB);
  EXPECT_EQ(stats.blocks_left, 200u);
}

TEST(Quarantine, BytesCountAndTimeAreBounded) {
  PagePool pool(Options(10 * kMiB));
  const auto pass = [&](size_t bytes) {
    const Block block = guard::QuarantineOf(pool)->TryAllocate(bytes);
    guard::QuarantineOf(pool)->Free(block.data, block.bytes);
    return block.data;
  };
  for (int i = 0; i < 30; ++i) {
    pass(i % 3 == 0 ? kMiB : 64 * kKiB);
    ASSERT_LE(guard::QuarantineStatsOf(pool).bytes_held, 10 * kMiB);
  }
  EXPECT_GT(guard::QuarantineStatsOf(pool).bytes_held, 8 * kMiB);
  // One block that is larger than all of it goes at once, and pushes nobody out.
  const size_t before = guard::QuarantineStatsOf(pool).blocks_held;
  void* const large = pass(16 * kMiB);
  EXPECT_EQ(guard::QuarantineStatsOf(pool).blocks_held, before);
  EXPECT_EQ(ExplainAddress(large).kind, Kind::kUnknown);
  // Time.
  void* const last = pass(1);
  EXPECT_EQ(ExplainAddress(last).kind, Kind::kEnded);
  test_now_ms += 59'000;
  pool.Trim();
  EXPECT_EQ(ExplainAddress(last).kind, Kind::kEnded);
  test_now_ms += 1'000;
  pool.Decay();
  EXPECT_EQ(ExplainAddress(last).kind, Kind::kUnknown);
  EXPECT_EQ(guard::QuarantineStatsOf(pool).blocks_held, 0u);
  // And no more blocks than there is room for.
  PagePool many(Options(kUnlimitedBytes));
  for (int i = 0; i < 600; ++i) {
    const Block block = guard::QuarantineOf(many)->TryAllocate(1);
    guard::QuarantineOf(many)->Free(block.data, block.bytes);
  }
  EXPECT_EQ(guard::QuarantineStatsOf(many).blocks_held, 512u);
}

TEST(Quarantine, AnAddressIsExplained) {
  PagePool pool(Options());
  PagePool& quarantine = *guard::QuarantineOf(pool);
  const Block block = quarantine.TryAllocate(1);
  char* const data = static_cast<char*>(block.data);
  EXPECT_EQ(ExplainAddress(data).kind, Kind::kUnknown);
  const FaultyAddress beyond = ExplainAddress(data + block.bytes + 7);
  EXPECT_EQ(beyond.kind, Kind::kBeyondEnd);
  EXPECT_EQ(beyond.offset, block.bytes + 7);
  {
    const ScopeEnd end = EndOf("/feed.Feed/Rank", 48120);
    const ScopeEndFrame frame(end);
    quarantine.Free(block.data, block.bytes);
  }
  for (const size_t offset : {size_t{0}, block.bytes - 1, block.bytes + 1}) {
    const FaultyAddress found = ExplainAddress(data + offset);
    ASSERT_EQ(found.kind, Kind::kEnded);
    EXPECT_EQ(found.offset, offset);
    EXPECT_EQ(found.block_bytes, block.bytes);
    EXPECT_STREQ(found.end->name.data(), "/feed.Feed/Rank");
    EXPECT_EQ(found.end->number, 48120u);
    EXPECT_GT(found.end->thread, 0);
    EXPECT_GT(found.end->frame_count, 0u);
  }
  EXPECT_EQ(ExplainAddress(&pool).kind, Kind::kUnknown);
  EXPECT_EQ(ExplainAddress(nullptr).kind, Kind::kUnknown);
}

TEST(Quarantine, LongNamesAreCut) {
  ScopeEnd end;
  end.Note(std::string(500, 'x'), 1);
  EXPECT_EQ(std::string(end.name.data()), std::string(ScopeEnd::kNameBytesMax - 1, 'x'));
}

TEST(Quarantine, HeldBlocksTakeNoPhysicalMemory) {
  PagePool pool(Options());
  const auto resident = [] {
    size_t pages = 0;
    size_t all = 0;
    FILE* file = std::fopen("/proc/self/statm", "r");
    EXPECT_EQ(std::fscanf(file, "%zu %zu", &all, &pages), 2);
    std::fclose(file);
    return pages * 4096;
  };
  const size_t before = resident();
  for (int i = 0; i < 20; ++i) {
    const Block block = guard::QuarantineOf(pool)->TryAllocate(kMiB);
    std::memset(block.data, 1, block.bytes);
    guard::QuarantineOf(pool)->Free(block.data, block.bytes);
  }
  EXPECT_EQ(guard::QuarantineStatsOf(pool).bytes_held, 20 * kMiB);
  // ASan's shadow and the allocator move a little.
  EXPECT_LT(resident(), before + 8 * kMiB);
}

TEST(Quarantine, ThreadsMayShareIt) {
  PagePool pool(Options(50 * 64 * kKiB));
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop.load()) static_cast<void>(ExplainAddress(&pool));
  });
  std::vector<std::thread> threads;
  for (uint64_t stamp = 1; stamp <= 3; ++stamp) {
    threads.emplace_back([&, stamp] {
      for (int i = 0; i < 300; ++i) {
        const Block block = guard::QuarantineOf(pool)->TryAllocate(1);
        Stamp(block.data, block.bytes, stamp);
        ASSERT_TRUE(HasStamp(block.data, block.bytes, stamp));
        const ScopeEnd end = EndOf("thread", stamp);
        const ScopeEndFrame frame(end);
        guard::QuarantineOf(pool)->Free(block.data, block.bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop.store(true);
  reader.join();
  EXPECT_EQ(guard::QuarantineStatsOf(pool).blocks_entered, 900u);
  EXPECT_EQ(guard::QuarantineStatsOf(pool).blocks_held, 50u);
}

// Death tests. ASan's own report comes first in its builds, so there it is only told that both
// stop.
#if HARENA_ASAN
#define EXPECT_REPORT(statement, report) EXPECT_DEATH(statement, "AddressSanitizer")
#else
#define EXPECT_REPORT(statement, report) EXPECT_DEATH(statement, report)
#endif

class FaultReporterDeathTest : public testing::Test {
 protected:
  FaultReporterDeathTest() {
    // Threads of earlier tests are gone, but gtest cannot know.
    GTEST_FLAG_SET(death_test_style, "fast");
    block_ = guard::QuarantineOf(pool_)->TryAllocate(1);
    static_cast<void>(Read(block_.data));
  }
  void End() {
    const ScopeEnd end = EndOf("/feed.Feed/Rank", 48120);
    const ScopeEndFrame frame(end);
    guard::QuarantineOf(pool_)->Free(block_.data, block_.bytes);
  }

  PagePool pool_{Options()};
  Block block_;
};

class FaultDeathTest : public FaultReporterDeathTest {
 protected:
  void TearDown() override {
    SafetyCount(HasFailure() ? "detectors_silent" : "detectors_fired", 1);
  }
};

TEST_F(FaultDeathTest, AReadIsReportedWithMethodAndScope) {
  End();
  EXPECT_REPORT(
      {
        InstallFaultReporter();
        Read(block_.data, 1234);
      },
      "FAULT: read after the end of a scope\n  address 0x[0-9a-f]+, 1234 bytes into a block of "
      "65536\n  scope 48120 of /feed.Feed/Rank\n  ended [0-9]+ ms ago, at 20..-..-.. "
      "..:..:......"
      " UTC, on thread [0-9]+, here:\n    0x.*the read, on thread [0-9]+, here:\n    0x");
}

TEST_F(FaultDeathTest, AWriteIsReportedAsOne) {
  End();
  EXPECT_REPORT(
      {
        InstallFaultReporter();
        Write(block_.data, block_.bytes - 1);
      },
      "FAULT: write after the end of a scope.*65535 bytes into a block.*scope 48120 of "
      "/feed.Feed/Rank");
}

TEST_F(FaultDeathTest, AWriteBehindABlockIsReported) {
  EXPECT_DEATH(
      {
        InstallFaultReporter();
        Write(block_.data, block_.bytes + 4);
      },
      "FAULT: write behind the end of a scope's memory.*4 bytes behind a block of 65536");
  End();
}

TEST_F(FaultDeathTest, ABlockGivenBackTwiceStops) {
  End();
  EXPECT_DEATH(End(), "this address is not a block of this pool");
}

// With AddressSanitizer its handler comes first.
#if !HARENA_ASAN
TEST_F(FaultDeathTest, WithoutTheReporterTheProcessDiesToo) {
  End();
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        Read(block_.data);
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

// Death by the signal, as without us: what a supervisor sees stays the same.
TEST_F(FaultDeathTest, TheProcessDiesByTheSameSignal) {
  End();
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        InstallFaultReporter();
        Read(block_.data);
      },
      testing::KilledBySignal(SIGSEGV), "FAULT: read");
}

void ExitFromHandler(int) {
  const char text[] = "the handler before ours\n";
  static_cast<void>(!write(2, text, sizeof(text) - 1));
  _exit(7);
}

TEST_F(FaultDeathTest, AHandlerThatWasThereIsCalledAfterwards) {
  End();
  EXPECT_EXIT(
      {
        signal(SIGSEGV, &ExitFromHandler);
        InstallFaultReporter();
        Read(block_.data);
      },
      testing::ExitedWithCode(7), "FAULT: read.*the handler before ours");
  // Not our memory: no report, the same handler.
  EXPECT_EXIT(
      {
        signal(SIGSEGV, &ExitFromHandler);
        InstallFaultReporter();
        raise(SIGSEGV);
      },
      testing::ExitedWithCode(7), "^the handler before ours");
}

TEST_F(FaultReporterDeathTest, ASignalThatSomebodySentKillsOnce) {
  End();
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        InstallFaultReporter();
        raise(SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), "");
}
#endif

TEST_F(FaultReporterDeathTest, TheReporterIsInstalledOnceAndKnowsWhenItIsReplaced) {
  EXPECT_EXIT(
      {
        const bool before = FaultReporterInstalled();
        const bool first = InstallFaultReporter();
        const bool again = InstallFaultReporter();
        signal(SIGSEGV, SIG_DFL);
        const bool replaced = InstallFaultReporter();
        _exit(!before && first && again && !replaced ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  End();
}

TEST_F(FaultDeathTest, AnArenaThatIsResetEarlyIsReportedAsSuch) {
  Arena arena({.pool = guard::QuarantineOf(pool_)});
  char* const data = static_cast<char*>(arena.Allocate(100));
  arena.Reset(Retain::kNothing);
  EXPECT_REPORT(
      {
        InstallFaultReporter();
        Read(data);
      },
      "the block went back before its scope ended");
  End();
}

}  // namespace
}  // namespace harena
