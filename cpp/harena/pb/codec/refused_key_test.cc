// A budget that refuses while protobuf's map takes a key in: the key's buffer is not lost.
#include <string>

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/string_buffers.h"
#include "harena/pb/codec/test_heap_count.h"
#include "harena/pb/codec/test_safety.h"
#include "harena/pb/parse/parse.h"

namespace harena::pb::codec {
namespace {

constexpr int kWords = 1500;

// The entries of `texts`, which come first, shift where the arena's blocks end among the words;
// there are as many as let that not be where the table of words grows.
std::string Wire(int texts) {
  Whole first;
  for (int i = 0; i < texts; ++i) (*first.mutable_text_by_number())[i] = "short";
  Whole then;
  for (int i = 0; i < kWords; ++i) {
    (*then.mutable_words())["a key with a buffer, " + std::to_string(i)] = "short";
  }
  return BytesOf(first) + BytesOf(then);
}

TEST(RefusedKey, GivesItsBodyBack) {
  PagePool pool(TestOptions());
  int refused = 0;
  const auto parse_all = [&] {
    for (int texts = 200; texts < 260; ++texts) {
      const std::string wire = Wire(texts);
      for (const size_t more : {60 * kKiB, 120 * kKiB}) {
        Scope scope(
            {.request_bytes_max = wire.size() + more, .page_pool = &pool, .mode = Mode::kCodec});
        if (ParseFrozen<Whole>(scope, wire).result.status == ParseStatus::kRefused) ++refused;
      }
    }
    TrimStringBuffers();
  };
  parse_all();  // so that what is made once is there
  const ptrdiff_t before = HeapBalance();
  refused = 0;
  parse_all();
  EXPECT_EQ(refused, 2 * 60);
  EXPECT_EQ(HeapBalance(), before);
}

}  // namespace
}  // namespace harena::pb::codec
