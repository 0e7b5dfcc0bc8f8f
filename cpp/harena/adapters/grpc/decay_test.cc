// A server without traffic gives its memory back by itself.
#include <atomic>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"

namespace harena::grpc {
namespace {

size_t FreeBytes(const PagePoolStats& stats) {
  return stats.bytes_thread_cached + stats.bytes_retained;
}

class DecayTest : public ModeTest {};
INSTANTIATE_TEST_SUITE_P(Modes, DecayTest, ::testing::ValuesIn(kModes), ModeName);

TEST_P(DecayTest, AnIdleServerGivesItsMemoryBack) {
  PagePool pool({.decay_after = std::chrono::milliseconds(50)});
  HookedService service;
  // Seen by the handler: by the time the client has its answer, an idle server may have let go of
  // it.
  std::atomic<size_t> mapped_bytes{0};
  service.on_run = [&, run = service.on_run](::grpc::CallbackServerContext* context,
                                             const Task* task, Result* result) {
    mapped_bytes = pool.stats().bytes_mapped;
    return run(context, task, result);
  };
  Server scoped(service, ServerOptions{.defaults = {.mode = GetParam(), .page_pool = &pool},
                                       .decay_interval = std::chrono::milliseconds(10)});
  ::grpc::ServerBuilder builder;
  builder.RegisterService(scoped.service());
  const auto server = builder.BuildAndStart();
  const auto stub = test::Work::NewStub(server->InProcessChannel({}));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) {
      ::grpc::ClientContext context;
      Result result;
      ASSERT_TRUE(stub->Run(&context, MakeTask(200), &result).ok());
    }
    EXPECT_GT(mapped_bytes.exchange(0), 0u);
    // Nobody calls, and still everything goes: also what other threads cached, and kept messages.
    EXPECT_TRUE(Eventually([&] {
      const PagePoolStats stats = pool.stats();
      return stats.bytes_in_use == 0 && FreeBytes(stats) == 0;
    }));
    for (const MethodStats& stats : scoped.stats()) EXPECT_EQ(stats.kept.bytes_idle, 0u);
  }
  server->Shutdown();
}

}  // namespace
}  // namespace harena::grpc
