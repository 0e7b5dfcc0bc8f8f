// Each allocation of Harena's in a real gRPC server failing in turn, in every mode: the call is
// refused, the server lives, and the next call is served. gRPC's own allocations are left alone: it
// ends the process when one fails.
#include <string>

#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"
#include "tests/faults/failing_alloc.h"
#include "tests/faults/own_frames.h"
#include "tests/safety_count.h"

namespace harena::grpc {
namespace {

using ::grpc::StatusCode;

class GrpcFaults : public ModeTest {
 protected:
  GrpcFaults() {
    faults::PrintPlaceOnDeath();
    faults::SpareThisThread();  // the client's
  }

  // A handler that also uses its scope.
  void Start(Rig<>& rig) {
    rig.service.on_run = [](::grpc::CallbackServerContext* context, const Task* task,
                            Result* result) {
      ScopeOf(*context).Create<std::string>("a string on the scope, with its body on the heap");
      Answer(*task, result);
      return FinishNow();
    };
    rig.Start(GetParam());
  }

  // Whether the n-th allocation was there to fail.
  bool FailOne(Rig<>& rig, int64_t n) {
    const Task task = MakeTask();
    faults::FailAllocationOf(&faults::IsOwnAllocation, n);
    Result result;
    const ::grpc::Status status = rig.Run(task, &result);
    EXPECT_TRUE(Eventually([&] { return rig.scopes_live() == 0; }));
    const bool failed = faults::HasFailedOf();
    faults::FailAllocationOf(nullptr, 0);
    if (status.ok()) {
      EXPECT_EQ(result.number(), 42) << "failure " << n;
      ++served_;
    } else {
      EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED) << "failure " << n;
      EXPECT_NE(status.error_message(), "") << "failure " << n;
      EXPECT_TRUE(failed) << "refused without a failure";
      ++refused_;
    }
    EXPECT_TRUE(rig.Run(task).ok()) << "after failure " << n;
    return failed;
  }

  void Report(int64_t injected) {
    EXPECT_GE(injected, 3);
    EXPECT_GE(refused_, 1u);
    SafetyCount("faults_injected", static_cast<uint64_t>(injected));
    SafetyCount("requests_refused", refused_);
    SafetyCount("requests_served", served_);
  }

 private:
  uint64_t served_ = 0;
  uint64_t refused_ = 0;
};
// Not mode heap: protobuf's maps there do not survive it (alloc_fault_test.cc).
INSTANTIATE_TEST_SUITE_P(Modes, GrpcFaults,
                         ::testing::Values(Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec),
                         ModeName);

TEST_P(GrpcFaults, InTheFirstCall) {
  int64_t n = 1;
  for (;; ++n) {
    Rig<> rig;
    Start(rig);
    if (!FailOne(rig, n)) break;
  }
  Report(n - 1);
}

TEST_P(GrpcFaults, InALaterCall) {
  Rig<> rig;
  Start(rig);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.Run(MakeTask()).ok());
  int64_t n = 1;
  while (FailOne(rig, n)) ++n;
  Report(n - 1);
  rig.ExpectAllMemoryBack();
}

}  // namespace
}  // namespace harena::grpc
