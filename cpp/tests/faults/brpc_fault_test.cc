// Each allocation of Harena's in a real brpc server failing in turn: the call is
// refused or served, the server lives, and the next call is served. brpc's own allocations are left
// alone.
#include <string>

#include <gtest/gtest.h>

#include "harena/adapters/brpc/test_rig.h"
#include "harena/adapters/brpc/within_budget.h"
#include "tests/faults/failing_alloc.h"
#include "tests/faults/own_frames.h"
#include "tests/safety_count.h"

namespace harena::brpc {
namespace {

class BrpcFaults : public ModeTest {
 protected:
  BrpcFaults() {
    faults::PrintPlaceOnDeath();
    faults::SpareThisThread();  // the client's
  }

  // Whether the n-th allocation was there to fail.
  bool FailOne(Rig& rig, int64_t n) {
    const Task task = MakeTask();
    faults::FailAllocationOf(&faults::IsOwnAllocation, n);
    Result result;
    std::string error_text;
    const int error = rig.Run(task, &result, &error_text);
    EXPECT_TRUE(Eventually([&] { return rig.scopes_live() == 0; }));
    const bool failed = faults::HasFailedOf();
    faults::FailAllocationOf(nullptr, 0);
    if (error == 0) {
      EXPECT_EQ(result.number(), 42) << "failure " << n;
      ++served_;
    } else {
      EXPECT_NE(error_text, "") << "failure " << n;
      EXPECT_TRUE(failed) << "refused without a failure: " << error_text;
      ++refused_;
    }
    EXPECT_EQ(rig.Run(task), 0) << "after failure " << n;
    return failed;
  }

  void Report(int64_t injected) {
    EXPECT_GE(injected, 3);
    SafetyCount("faults_injected", static_cast<uint64_t>(injected));
    SafetyCount("requests_refused", refused_);
    SafetyCount("requests_served", served_);
  }

 private:
  uint64_t served_ = 0;
  uint64_t refused_ = 0;
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
  int64_t n = 1;
  while (FailOne(rig, n)) ++n;
  Report(n - 1);
  rig.ExpectAllMemoryBack();
}

}  // namespace
}  // namespace harena::brpc
