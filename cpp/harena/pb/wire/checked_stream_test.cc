#include "harena/pb/wire/checked_stream.h"

#include <random>
#include <string>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include "harena/pb/test_wire.h"
#include "harena/pb/wire/length_tags.h"
#include "harena/test/shapes.pb.h"

#if HARENA_CODEC
namespace harena::pb::wire {
namespace {

using pb::test::Field;
using pb::test::Varint;

// Into how many pieces an input is cut that comes in chunks of so many bytes.
size_t PiecesOf(const std::string& wire, size_t chunk_bytes,
                size_t unnoticed_bytes = LengthCheck::kUnnoticedBytes) {
  google::protobuf::io::ArrayInputStream input(wire.data(), static_cast<int>(wire.size()),
                                               static_cast<int>(chunk_bytes));
  CheckedStream stream(input, wire.size(),
                       &LengthTags::Of(harena::test::Shapes::default_instance()), unnoticed_bytes);
  size_t pieces = 0;
  const void* data;
  int size;
  while (stream.Next(&data, &size)) ++pieces;
  return pieces;
}

// Bytes of any kind, in which much looks like the length of a message.
std::string Noise(size_t bytes) {
  std::mt19937_64 random(7);
  std::string noise(bytes, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  return noise;
}

TEST(CheckedStream, CutsNoNoiseInALongField) {
  for (const size_t chunk_bytes : {1'000'000u, 16'384u, 4'000u}) {
    for (const uint32_t number : {2u, 1999u}) {
      const std::string wire =
          Field(1, "title") + Field(number, Noise(200'000)) + Field(10, Field(1, "leaf"));
      const size_t chunks = (wire.size() + chunk_bytes - 1) / chunk_bytes;
      EXPECT_EQ(PiecesOf(wire, chunk_bytes), chunks) << chunk_bytes << ", field " << number;
    }
    const std::string inner = Field(15, Field(15, Field(2, Noise(200'000))) + Field(1, "text"));
    EXPECT_EQ(PiecesOf(inner, chunk_bytes), (inner.size() + chunk_bytes - 1) / chunk_bytes);
  }
}

TEST(CheckedStream, CutsBehindALie) {
  const std::string lie = "\x52" + Varint(40'000'000) + Field(1, std::string(40, 't'));
  for (const std::string& wire :
       {lie, Field(2, Noise(200'000)) + lie, Field(15, Field(2, Noise(20'000)) + lie),
        Field(10, Field(1, "leaf")) + lie + Field(2, Noise(10'000))}) {
    EXPECT_GT(PiecesOf(wire, wire.size()), 1u);
  }
}

// In any place of a block, and across the blocks' borders.
TEST(CheckedStream, LooksOnlyAtWhatIsNotHeld) {
  for (const size_t held : {LengthCheck::kHeldBytes, LengthCheck::kMuchHeldBytes}) {
    for (size_t before = 0; before < 150; ++before) {
      const auto pieces = [&](uint64_t length) {
        const std::string wire = Field(1, std::string(before, 't')) + "\x52" + Varint(length) +
                                 Field(1, std::string(100, 't'));
        return PiecesOf(wire, wire.size(), held);
      };
      EXPECT_EQ(pieces(held), 1u) << before;
      EXPECT_EQ(pieces(held + 200), 2u) << before;
      EXPECT_EQ(pieces(40'000'000), 2u) << before;
      EXPECT_EQ(pieces(2'000'000'000), 2u) << before;
    }
  }
}

// Some hashes look like lies: they are cut behind for as long as they are few, and then the fields
// are followed.
TEST(CheckedStream, CutsNoHashesWhereTheyAreMany) {
  std::string hashes;
  std::mt19937_64 random(5);
  while (hashes.size() < 200'000) {
    std::string hash(16, '\0');
    for (char& byte : hash) byte = static_cast<char>(random());
    hashes += Field(10, Field(1, hash));
  }
  const size_t any = PiecesOf(hashes, hashes.size());
  const size_t held = PiecesOf(hashes, hashes.size(), LengthCheck::kMuchHeldBytes);
  EXPECT_GT(any, 1u);
  EXPECT_LT(any, 50u);
  EXPECT_GT(held, 100u);
  EXPECT_LE(held, hashes.size() / 256 + 2);
}

}  // namespace
}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
