#include "harena/pb/wire/byte_block.h"

#include <array>
#include <random>

#include <gtest/gtest.h>

namespace harena::pb::wire {
namespace {

using Bytes = std::array<char, kBlockBytes + 1>;

uint64_t OneByOne(const char* data, uint8_t least) {
  uint64_t bits = 0;
  for (size_t i = 0; i < kBlockBytes; ++i) {
    if (static_cast<uint8_t>(data[i]) >= least) bits |= uint64_t{1} << i;
  }
  return bits;
}

void ExpectAll(const Bytes& bytes) {
  for (const char* data : {bytes.data(), bytes.data() + 1}) {
    EXPECT_EQ(HighBits(data), OneByOne(data, kHighByte));
    for (const uint8_t least : {1, 2, 0x3f, 0x40, 0x7e, 0x7f, 0x80}) {
      EXPECT_EQ(AtLeast(data, least), OneByOne(data, least)) << int{least};
      EXPECT_EQ(AtLeastByWords(data, least), OneByOne(data, least)) << int{least};
    }
  }
}

TEST(ByteBlock, EachByteAlone) {
  for (const uint8_t others : {0, 0x3f, 0x7f, 0xff}) {
    for (size_t i = 0; i < kBlockBytes + 1; ++i) {
      Bytes bytes;
      bytes.fill(static_cast<char>(others));
      for (const uint8_t byte : {0, 1, 0x40, 0x7f, 0x80, 0xff}) {
        bytes[i] = static_cast<char>(byte);
        ExpectAll(bytes);
      }
    }
  }
}

TEST(ByteBlock, AnyBytes) {
  std::mt19937 random(5);
  for (int i = 0; i < 1000; ++i) {
    Bytes bytes;
    for (char& byte : bytes) byte = static_cast<char>(random());
    ExpectAll(bytes);
  }
}

}  // namespace
}  // namespace harena::pb::wire
