// Each allocation of Harena's in a real brpc server failing in turn: the call is
// refused or served, the server lives, and the next call is served. brpc's own allocations are left
// alone.
#include <string>

#include <gtest/gtest.h>

#include "harena/adapters/brpc/test_rig.h"
#include "harena/adapters/brpc/within_budget.h"
#include "tests/faults/server_faults.h"

namespace harena::brpc {
namespace {

class BrpcFaults : public ModeTest {
 protected:
  static std::string Call(Rig& rig) {
    Result result;
    std::string error_text;
    const int error = rig.Run(MakeTask(), &result, &error_text);
    if (error != 0) return std::to_string(error) + ": " + error_text;
    EXPECT_EQ(result.number(), 42);
    return "";
  }

  faults::ServerFaults faults_;
};
// Not in modes heap and reuse: there brpc parses by itself, as without Harena.
INSTANTIATE_TEST_SUITE_P(Modes, BrpcFaults,
                         ::testing::Values(Mode::kArena, Mode::kPages, Mode::kCodec), ModeName);

// The handler is one that holds itself to its limit, and so can be refused memory.
TEST_P(BrpcFaults, InEachCall) {
  Rig rig;
  rig.service.on_run = [](Controller* controller, const Task* task, Result* result, Closure* done) {
    // brpc cannot be told that there is no memory for a scope: such a call goes on without one.
    Scope* const scope = FindScope(*result);
    if (scope == nullptr) {
      Answer(*task, result);
    } else {
      WithinBudget(*controller, *scope, [&] {
        scope->Create<std::string>("a string on the scope, with its body on the heap");
        Answer(*task, result);
      });
    }
    done->Run();
  };
  rig.Start(GetParam());
  faults_.FailEach([&] { return Call(rig); },
                   [&] { return Eventually([&] { return rig.scopes_live() == 0; }); });
  rig.ExpectAllMemoryBack();
}

}  // namespace
}  // namespace harena::brpc
