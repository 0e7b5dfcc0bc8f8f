// Each allocation of Harena's in a real tRPC server failing in turn: the call is refused or served,
// the server lives, and the next call is served. tRPC's own allocations are left alone.
#include <string>

#include <gtest/gtest.h>

#include "harena/adapters/trpc/scope_of.h"
#include "harena/adapters/trpc/test_services.h"
#include "harena/adapters/trpc/within_budget.h"
#include "tests/faults/server_faults.h"

namespace harena::trpc {
namespace {

class TrpcFaults : public ServerTest, public ::testing::WithParamInterface<Mode> {};
// Not in modes heap and reuse: there tRPC parses by itself, as without Harena.
INSTANTIATE_TEST_SUITE_P(Modes, TrpcFaults,
                         ::testing::Values(Mode::kArena, Mode::kPages, Mode::kCodec),
                         [](const auto& info) { return NameOf(info.param); });

TEST_P(TrpcFaults, InEachCall) {
  faults::ServerFaults faults;
  Served& served = Of(NameOf(GetParam()));
  // One that holds itself to its limit, and so can be refused memory.
  served.service->on_run = [](const ServerContextPtr& context, const Task& task, Result& result) {
    WithinBudget(*context, [&] {
      ScopeOf(*context).Create<std::string>("a string on the scope, with its body on the heap");
      Answer(task, &result);
    });
    return ::trpc::kSuccStatus;
  };
  RawClient client(server().port(NameOf(GetParam())));
  const std::string frame = RawClient::Frame(kRun, MakeTask().SerializeAsString());
  faults.FailEach(
      [&]() -> std::string {
        EXPECT_TRUE(client.Send(frame));
        const int code = client.NextCode();
        EXPECT_NE(code, -1) << "the connection has ended";
        return code == 0 ? "" : std::to_string(code);
      },
      [&] {
        return Eventually([&] { return served.services->stats().at(0).scopes.scopes_live() == 0; });
      });
}

}  // namespace
}  // namespace harena::trpc
