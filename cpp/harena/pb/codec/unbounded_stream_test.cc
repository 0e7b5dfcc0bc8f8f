// Streams that do not say where they end, parsed by protobuf's own calls into messages of scopes:
// what looks at lengths there must not take a group or a map entry near the end for a lie.
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "harena/mem/test_pool.h"
#include "harena/pb/arena/message_arena.h"
#include "harena/pb/codec/test_chunks.h"
#include "harena/pb/codec/test_compare.h"
#include "harena/pb/codec/test_log.h"
#include "harena/pb/codec/test_random_message.h"
#include "harena/pb/codec/test_subject.h"
#include "harena/scope/scope.h"

namespace harena::pb::codec::test {
namespace {

TEST(UnboundedStream, IsReadAsOutsideOfScopes) {
  const SilentLog quiet;
  PagePool pool(TestOptions());
  size_t tried = 0;
  for (const Subject& subject : AllSubjects()) {
    Random random(std::hash<std::string_view>()(subject.name()));
    for (int i = 0; i < 20; ++i) {
      const std::unique_ptr<google::protobuf::Message> message(subject.prototype->New());
      FillRandomly(*message, random, {.fields_max = i % 2 == 0 ? 4 : 100});
      const std::string wire = message->SerializePartialAsString();
      // Some types take no unknown field for what it is.
      if (!message->ParsePartialFromString(wire)) continue;
      ++tried;
      const std::string expected = StockBytes(*message);
      for (const Mode mode : {Mode::kArena, Mode::kPages, Mode::kCodec}) {
        Scope scope({.page_pool = &pool, .mode = mode});
        auto* const parsed = subject.prototype->New(&MessageArena::Of(scope).arena());
        ChunkInputStream input(wire, {static_cast<int>(1 + Below(random, 80))});
        ASSERT_TRUE(parsed->ParsePartialFromZeroCopyStream(&input))
            << subject.name() << ", " << ToString(mode);
        const std::unique_ptr<google::protobuf::Message> copy(subject.prototype->New());
        copy->CopyFrom(*parsed);
        EXPECT_TRUE(StockBytes(*copy) == expected) << subject.name() << ", " << ToString(mode);
      }
    }
  }
  EXPECT_GT(tried, 15 * AllSubjects().size());
}

}  // namespace
}  // namespace harena::pb::codec::test
