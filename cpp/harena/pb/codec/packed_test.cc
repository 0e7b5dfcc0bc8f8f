// Built twice: as it is, and with the code for machines without fast PDEP and PEXT.
#include "harena/pb/codec/packed.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

namespace harena::pb::codec {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

// Numbers around every length of a varint, and many of mixed lengths.
template <typename T>
std::vector<T> Numbers() {
  std::vector<uint64_t> wide = {0, 1, std::numeric_limits<uint64_t>::max()};
  for (int bit = 1; bit < 64; ++bit) {
    for (const int64_t step : {-1, 0, 1}) {
      wide.push_back((uint64_t{1} << bit) + static_cast<uint64_t>(step));
    }
  }
  std::mt19937_64 random(20);
  for (int i = 0; i < 5000; ++i) wide.push_back(random() >> (random() % 64));
  for (int i = 0; i < 500; ++i) wide.push_back(random() % 128);
  std::vector<T> numbers(wide.size());
  std::transform(wide.begin(), wide.end(), numbers.begin(),
                 [](uint64_t number) { return static_cast<T>(number); });
  return numbers;
}

// What protobuf writes for them.
template <WireFormatLite::FieldType kType, typename T>
std::string StockBytes(const T* numbers, size_t count) {
  std::string bytes(count * kVarintBytesMax, '\0');
  auto* const begin = reinterpret_cast<uint8_t*>(bytes.data());
  uint8_t* to = begin;
  for (size_t i = 0; i < count; ++i) {
    to = CodedOutputStream::WriteVarint64ToArray(ToVarint<kType>(numbers[i]), to);
  }
  bytes.resize(static_cast<size_t>(to - begin));
  return bytes;
}

template <WireFormatLite::FieldType kType, Varint kKind, typename T>
void WritesAndReads() {
  const auto all = Numbers<T>();
  // std::vector<bool> has no array.
  const auto numbers = std::make_unique<T[]>(all.size());
  std::copy(all.begin(), all.end(), numbers.get());
  for (size_t count = 1; count <= all.size(); count += 1 + count / 3) {
    const T* const part = numbers.get() + (all.size() - count);
    const std::string stock = StockBytes<kType>(part, count);

    std::string room(8 + count * kVarintBytesMax, '\xee');
    auto* const end = reinterpret_cast<uint8_t*>(room.data() + room.size());
    const uint8_t* const begin = PutVarints<kType>(end, part, static_cast<int>(count));
    ASSERT_EQ(std::string(begin, const_cast<const uint8_t*>(end)), stock) << count;

    const std::string input = stock + std::string(16, '\xff');
    ASSERT_EQ(CountVarints(input.data(), static_cast<int>(stock.size())), count);
    const auto values = std::make_unique<T[]>(count + 2);
    ASSERT_EQ(ReadVarints<kKind>(input.data(), input.data() + stock.size(), values.get()),
              values.get() + count);
    ASSERT_TRUE(std::equal(part, part + count, values.get())) << count;
  }
}

TEST(Packed, WritesAndReadsAsProtobufDoes) {
  WritesAndReads<WireFormatLite::TYPE_BOOL, Varint::kPlain, bool>();
  WritesAndReads<WireFormatLite::TYPE_ENUM, Varint::kPlain, int32_t>();
  WritesAndReads<WireFormatLite::TYPE_INT32, Varint::kPlain, int32_t>();
  WritesAndReads<WireFormatLite::TYPE_INT64, Varint::kPlain, int64_t>();
  WritesAndReads<WireFormatLite::TYPE_UINT32, Varint::kPlain, uint32_t>();
  WritesAndReads<WireFormatLite::TYPE_UINT64, Varint::kPlain, uint64_t>();
  WritesAndReads<WireFormatLite::TYPE_SINT32, Varint::kZigZag32, int32_t>();
  WritesAndReads<WireFormatLite::TYPE_SINT64, Varint::kZigZag64, int64_t>();
}

TEST(Packed, NumbersOfMoreThanTenBytesAreRefused) {
  for (const size_t before : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{30}}) {
    for (const size_t length : {size_t{11}, size_t{12}, size_t{20}}) {
      std::string input(before, '\x01');
      input += std::string(length - 1, '\x80') + '\x01';
      const size_t size = input.size();
      input += std::string(16, '\0');
      std::vector<uint64_t> values(before + 3);
      EXPECT_EQ(ReadVarints<Varint::kPlain>(input.data(), input.data() + size, values.data()),
                nullptr);
    }
  }
}

TEST(Packed, TenBytesThatSayMoreThan64BitsAreReadAsProtobufReadsThem) {
  const std::string nine(9, '\xff');
  for (const char last : {'\x01', '\x02', '\x7f'}) {
    const std::string input = nine + last + std::string(16, '\0');
    uint64_t stock;
    ASSERT_NE(google::protobuf::internal::VarintParse(input.data(), &stock), nullptr);
    uint64_t values[3] = {};
    EXPECT_EQ(ReadVarints<Varint::kPlain>(input.data(), input.data() + 10, values), values + 1);
    EXPECT_EQ(values[0], stock);
  }
}

TEST(Varint, OneAtATime) {
  for (const uint64_t number : Numbers<uint64_t>()) {
    const std::string stock = StockBytes<WireFormatLite::TYPE_UINT64>(&number, 1);
    uint8_t room[8 + kVarintBytesMax];
    uint8_t* const end = room + sizeof(room);
    const uint8_t* const begin = PutVarint(end, number);
    ASSERT_EQ(std::string(begin, const_cast<const uint8_t*>(end)), stock) << number;
    const std::string input = stock + std::string(16, '\xff');
    uint64_t value;
    ASSERT_EQ(ReadVarint(input.data(), &value), input.data() + stock.size());
    ASSERT_EQ(value, number);
  }
}

}  // namespace
}  // namespace harena::pb::codec
