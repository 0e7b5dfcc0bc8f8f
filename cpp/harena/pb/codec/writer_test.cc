#include "harena/pb/codec/writer.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/codec/varint.h"

namespace harena::pb::codec {
namespace {

// Writes `count` bytes backwards, each with room asked for it alone.
uint8_t* WriteBytes(Writer& writer, uint8_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to = writer.Room(to, 1);
    *--to = static_cast<uint8_t>(i);
  }
  return to;
}

TEST(Writer, GrowsAndKeepsWhatWasWritten) {
  PagePool pool(TestOptions());
  {
    Writer writer(pool);
    uint8_t* to = writer.Begin(1);
    ASSERT_NE(to, nullptr);
    const size_t count = 3 * kMiB;
    to = WriteBytes(writer, to, count);
    ASSERT_EQ(writer.BytesFrom(to), count);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(to[i], static_cast<uint8_t>(count - 1 - i)) << i;
    }
    EXPECT_TRUE(writer.has_memory());
    writer.Free();
    EXPECT_FALSE(writer.has_memory());
    EXPECT_EQ(pool.stats().bytes_in_use, 0u);
    ASSERT_NE(writer.Begin(100), nullptr);  // and again
  }
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

TEST(Writer, SlackHoldsATagAndNumbersWhereverTheBlockEnds) {
  PagePool pool(TestOptions());
  // Ends of blocks are met with every distance.
  for (size_t distance = 0; distance < 80; ++distance) {
    Writer writer(pool);
    uint8_t* to = writer.Begin(1);
    const size_t block = 64 * kKiB;
    to = writer.Room(to, block - 100 - distance);
    to -= block - 100 - distance;
    std::memset(to, 'x', block - 100 - distance);
    for (int i = 0; i < 40; ++i) {
      to = writer.Room(to, 0);
      to = PutVarint(to, ~uint64_t{0});
      to = PutVarint(to, 300);
      to = PutVarint(to, (uint64_t{1} << 56) - 1);
    }
    uint8_t* at = to;
    for (int i = 0; i < 40; ++i) {
      const uint8_t one[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xac, 0x02,
                             0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
      ASSERT_EQ(std::memcmp(at, one, sizeof(one)), 0) << distance << " " << i;
      at += sizeof(one);
    }
    ASSERT_EQ(std::count(at, at + block - 100 - distance, 'x'),
              static_cast<ptrdiff_t>(block - 100 - distance));
  }
}

TEST(Writer, ARequestLargerThanTheBlockIsGranted) {
  PagePool pool(TestOptions());
  Writer writer(pool);
  uint8_t* to = writer.Begin(10);
  *--to = 'e';
  to = writer.Room(to, 10 * kMiB);
  std::memset(to - 10 * kMiB, 'x', 10 * kMiB);
  EXPECT_EQ(*to, 'e');
}

TEST(Writer, RefusedMemoryIsOutOfRoom) {
  FailingPageSource source;
  {
    PagePool pool(TestOptions(), source);
    for (int successes = 0; successes < 6; ++successes) {
      Writer writer(pool);
      source.FailAfter(successes);
      uint8_t* to = writer.Begin(1000);
      if (to == nullptr) {
        source.Heal();
        continue;
      }
      EXPECT_THROW(WriteBytes(writer, to, 64 * kMiB), OutOfRoom);
      source.Heal();
      // What it has is freed, and it may begin again.
      writer.Free();
      to = writer.Begin(1000);
      ASSERT_NE(to, nullptr);
      to = WriteBytes(writer, to, 5000);
      EXPECT_EQ(writer.BytesFrom(to), 5000u);
      writer.Free();
      pool.Trim();
    }
  }
  EXPECT_EQ(source.mapped_bytes(), 0);
}

TEST(Writer, MoreThanAMessageMayHaveIsOutOfRoom) {
  PagePool pool(TestOptions());
  Writer writer(pool);
  uint8_t* to = writer.Begin(10);
  EXPECT_THROW(static_cast<void>(writer.Room(to, size_t{1} << 31)), OutOfRoom);
  to = writer.Room(to, 100);  // as if nothing had been
  EXPECT_EQ(writer.BytesFrom(to), 0u);
}

}  // namespace
}  // namespace harena::pb::codec
