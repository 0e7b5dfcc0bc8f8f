// Each allocation of Harena's in a real gRPC server failing in turn, in every mode: the call is
// refused, the server lives, and the next call is served. gRPC's own allocations are left alone: it
// ends the process when one fails.
#include <string>

#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"
#include "tests/faults/server_faults.h"

namespace harena::grpc {
namespace {

using ::grpc::StatusCode;

class GrpcFaults : public ModeTest {
 protected:
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

  static std::string Call(Rig<>& rig) {
    Result result;
    const ::grpc::Status status = rig.Run(MakeTask(), &result);
    if (status.ok()) {
      EXPECT_EQ(result.number(), 42);
      return "";
    }
    EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_NE(status.error_message(), "");
    return "refused: " + status.error_message();
  }
  bool FailOne(Rig<>& rig, int64_t n) {
    return faults_.FailOne(
        n, [&] { return Call(rig); },
        [&] { return Eventually([&] { return rig.scopes_live() == 0; }); });
  }
  void Report(int64_t injected) const {
    faults_.Report(injected);
    EXPECT_GE(faults_.refused(), 1u);
  }

 private:
  faults::ServerFaults faults_;
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
