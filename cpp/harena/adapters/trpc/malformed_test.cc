// Requests that end before their bytes do, in two pieces, sent to a real tRPC server.
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "harena/adapters/trpc/test_services.h"
#include "harena/pb/wire/test_wire.h"

namespace harena::trpc {
namespace {

struct Target {
  std::string service;
  std::optional<Mode> mode = std::nullopt;  // that the service is to be switched to
};

class EndsEarlyTest : public ServerTest, public ::testing::WithParamInterface<Target> {};
INSTANTIATE_TEST_SUITE_P(
    Modes, EndsEarlyTest,
    ::testing::Values(Target{kOwn}, Target{"heap"}, Target{"arena"}, Target{"pages"},
                      Target{"reuse"}, Target{"codec"}, Target{kLimited, Mode::kArena},
                      Target{kLimited, Mode::kPages}, Target{kLimited, Mode::kCodec}),
    [](const auto& info) {
      const Target& target = info.param;
      return target.service + (target.mode ? "_" + NameOf(*target.mode) : std::string());
    });

// tRPC keeps what it reads at once as one piece: two writes with a pause between them make two.
TEST_P(EndsEarlyTest, BetweenTwoReads) {
  const auto& [name, mode] = GetParam();
  Served& served = Of(name);
  if (mode) {
    ASSERT_EQ(served.services->SetMode(*mode), std::nullopt);
  }
  bool handled = false;
  served.service->on_run = [&](const ServerContextPtr&, const Task&, Result&) {
    handled = true;
    return ::trpc::kSuccStatus;
  };
  RawClient client(server().port(name));
  for (const char end : {'\0', '\x0c'}) {
    const auto [before, behind] = pb::test::EndsEarly(end);
    const std::string frame = RawClient::Frame(kRun, before + behind);
    for (int round = 0; round < 5; ++round) {
      ASSERT_TRUE(client.Send(frame.substr(0, frame.size() - behind.size())));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ASSERT_TRUE(client.Send(behind));
      ASSERT_EQ(client.NextCode(), ::trpc::TrpcRetCode::TRPC_SERVER_DECODE_ERR);
    }
  }
  EXPECT_FALSE(handled);
  served.service->on_run = nullptr;
  ASSERT_TRUE(client.Send(RawClient::Frame(kRun, MakeTask().SerializeAsString())));
  EXPECT_EQ(client.NextCode(), 0);
  Inside([] { EXPECT_TRUE(AnswersAsExpected(GetParam().service, MakeTask())); });
}

}  // namespace
}  // namespace harena::trpc
