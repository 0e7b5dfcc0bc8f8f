// With tRPC itself: its arenas, its variables, its count of requests. C++17, as its headers need,
// and as its users write.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <trpc/runtime/common/stats/frame_stats.h>
#include <trpc/server/method_handler.h>
#include <trpc/tvar/common/tvar_group.h>

#include "harena/adapters/trpc/use_pages.h"
#include "harena/test/trpc_plain.pb.h"

namespace harena::trpc {
namespace {

using google::protobuf::Arena;
using test::trpc::Form;
using ::testing::HasSubstr;
using ::testing::Optional;

uint64_t BytesInUse() {
  const auto value = ::trpc::tvar::TrpcVarGroup::TryGet("/harena/pages/bytes_in_use");
  EXPECT_TRUE(value.has_value());
  return value ? value->asUInt64() : 0;
}

class Linked : public ::testing::Test {
 protected:
  void SetUp() override { UsePages(); }
};

// The two arenas of a call, as UnaryRpcMethodHandler makes and ends them.
TEST_F(Linked, TrpcsArenasStandOnPages) {
  Form form;
  for (int i = 0; i < 1000; ++i) form.add_inner()->set_name("a name longer than its own room");
  EXPECT_EQ(BytesInUse(), 0u);
  for (int round = 0; round < 10; ++round) {
    std::unique_ptr<Arena> request_arena(::trpc::GeneratePbArenaPtr());
    auto* request = Arena::CreateMessage<Form>(request_arena.get());
    std::unique_ptr<Arena> response_arena(::trpc::GeneratePbArenaPtr());
    auto* response = Arena::CreateMessage<Form>(response_arena.get());
    ASSERT_TRUE(request->ParseFromString(form.SerializeAsString()));
    *response = *request;
    EXPECT_GE(BytesInUse(), request_arena->SpaceUsed() + response_arena->SpaceUsed());
    EXPECT_EQ(response->SerializeAsString(), form.SerializeAsString());
    request_arena.reset();
    response_arena.reset();
    EXPECT_EQ(BytesInUse(), 0u);
  }
}

TEST_F(Linked, ShowsWhatTheGuideNames) {
  for (const char* name :
       {"pages/bytes_in_use", "pages/bytes_thread_cached", "pages/bytes_retained",
        "pages/bytes_cold", "pages/bytes_mapped", "pages/bytes_huge_advised",
        "pages/bytes_decommitted", "pages/blocks_allocated", "pages/blocks_freed",
        "pages/blocks_moved", "pages/regions_mapped", "pages/regions_unmapped", "pages/refusals",
        "process/bytes_used", "process/bytes_max", "process/refusals", "process/system_refusals",
        "process/unframed_overruns"}) {
    EXPECT_TRUE(::trpc::tvar::TrpcVarGroup::TryGet(std::string("/harena/") + name)) << name;
  }
}

TEST_F(Linked, TrpcKnowsOfRequests) {
  const PagesOptions other{nullptr, {}, std::chrono::milliseconds(7)};
  EXPECT_THAT(TryUsePages(other), Optional(HasSubstr("call it once")));
  // What a ServerContext does when it is made.
  auto& stats = ::trpc::FrameStats::GetInstance()->GetServerStats();
  stats.AddReqConcurrency();
  EXPECT_THAT(TryUsePages(other), Optional(HasSubstr("requests have been served already")));
  EXPECT_EQ(TryUsePages(), std::nullopt);
  stats.SubReqConcurrency();
}

}  // namespace
}  // namespace harena::trpc
