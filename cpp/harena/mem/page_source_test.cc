#include "harena/mem/page_source.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/test_pool.h"

namespace harena {
namespace {

bool IsMapped(const void* data) {
  unsigned char resident;
  const auto page = reinterpret_cast<uintptr_t>(data) & ~uintptr_t{4095};
  return mincore(reinterpret_cast<void*>(page), 4096, &resident) == 0;
}

TEST(SystemPageSource, MapsAtTheAlignmentAskedFor) {
  auto& source = SystemPageSource::Instance();
  for (const size_t alignment : {size_t{4096}, 64 * kKiB, 2 * kMiB, 64 * kMiB}) {
    void* data = source.Map(3 * 4096, alignment);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0u);
    Stamp(data, 3 * 4096, 7);
    EXPECT_TRUE(HasStamp(data, 3 * 4096, 7));
    source.Unmap(data, 3 * 4096);
    EXPECT_FALSE(IsMapped(data));
  }
}

TEST(SystemPageSource, AlignmentLeavesNothingMappedBesideTheBlock) {
  auto& source = SystemPageSource::Instance();
  char* data = static_cast<char*>(source.Map(2 * kMiB, 512 * kMiB));
  ASSERT_NE(data, nullptr);
  // The ends that were cut off are as long as the alignment; one of them reaches this far.
  EXPECT_FALSE(IsMapped(data - 128 * kMiB) && IsMapped(data + 128 * kMiB));
  source.Unmap(data, 2 * kMiB);
}

TEST(SystemPageSource, RefusesWhatNoSystemHas) {
  auto& source = SystemPageSource::Instance();
  EXPECT_EQ(source.Map(size_t{1} << 60, 4096), nullptr);
  EXPECT_EQ(source.Map(SIZE_MAX, 4096), nullptr);
  EXPECT_EQ(source.Map(SIZE_MAX - 4095, 4096), nullptr);
}

TEST(SystemPageSource, DecommittedMemoryReadsAsZeroAndStaysUsable) {
  auto& source = SystemPageSource::Instance();
  void* data = source.Map(2 * kMiB, 2 * kMiB);
  ASSERT_NE(data, nullptr);
  Stamp(data, 2 * kMiB, 9);
  EXPECT_TRUE(source.Decommit(data, 2 * kMiB));
  EXPECT_TRUE(HasStamp(data, 2 * kMiB, 0));
  Stamp(data, 2 * kMiB, 10);
  EXPECT_TRUE(HasStamp(data, 2 * kMiB, 10));
  source.Unmap(data, 2 * kMiB);
}

TEST(SystemPageSource, DecommitOfLockedMemorySaysFalse) {
  auto& source = SystemPageSource::Instance();
  void* data = source.Map(4096, 4096);
  ASSERT_NE(data, nullptr);
  // Straight to the system, because sanitizers turn mlock() off. RLIMIT_MEMLOCK may be 0.
  if (syscall(SYS_mlock, data, 4096) == 0) {
    EXPECT_FALSE(source.Decommit(data, 4096));
  }
  source.Unmap(data, 4096);
}

TEST(PageSourceRef, PassesEveryCallOn) {
  FailingPageSource source;
  const PageSourceRef ref(source);
  const PageSourceRef copy = ref;
  void* data = copy.Map(4096, 4096);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(source.mapped_bytes(), 4096);
  EXPECT_TRUE(copy.Decommit(data, 4096));
  EXPECT_EQ(source.decommitted_bytes(), 4096);
  EXPECT_FALSE(copy.AdviseHuge(data, 4096));
  EXPECT_EQ(source.advised(), 1);
  copy.Unmap(data, 4096);
  EXPECT_EQ(source.mapped_bytes(), 0);
}

TEST(FailingPageSource, RefusesAfterTheGivenSuccessesUntilHealed) {
  FailingPageSource source;
  source.FailAfter(2);
  void* first = source.Map(4096, 4096);
  void* second = source.Map(4096, 4096);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(source.Map(4096, 4096), nullptr);
  EXPECT_EQ(source.Map(4096, 4096), nullptr);
  EXPECT_EQ(source.refused(), 2);
  source.Heal();
  void* third = source.Map(4096, 4096);
  EXPECT_NE(third, nullptr);
  EXPECT_EQ(source.mapped_bytes(), 3 * 4096);
  for (void* data : {first, second, third}) source.Unmap(data, 4096);
  source.FailDecommit(true);
  EXPECT_FALSE(source.Decommit(first, 4096));
}

// A refusal that ran beside Heal() used to put the count back to zero.
TEST(FailingPageSource, HealIsNotLostBesideARefusal) {
  for (int round = 0; round < 200; ++round) {
    FailingPageSource source;
    source.FailAfter(0);
    std::thread other([&source] {
      for (int i = 0; i < 20; ++i) {
        if (void* data = source.Map(4096, 4096)) source.Unmap(data, 4096);
      }
    });
    source.Heal();
    other.join();
    void* data = source.Map(4096, 4096);
    ASSERT_NE(data, nullptr);
    source.Unmap(data, 4096);
  }
}

}  // namespace
}  // namespace harena
