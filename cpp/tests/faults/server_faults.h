// Each allocation of Harena's in a real server failing in turn.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "tests/faults/failing_alloc.h"
#include "tests/faults/own_frames.h"
#include "tests/safety_count.h"

namespace harena::faults {

/// Calls of a server, in each of which an allocation fails. The framework's own are left alone.
/// Thread rule: one thread, the client's, whose own allocations never fail.
class ServerFaults {
 public:
  ServerFaults() {
    PrintPlaceOnDeath();
    SpareThisThread();
  }

  /// Whether the `n`-th allocation was there to fail. `call()` makes one call: "" when it was
  /// served, else what it was refused with. `at_rest()` says whether the server is done with it. A
  /// call is refused only where something failed, and the next one is served.
  template <typename Call, typename AtRest>
  bool FailOne(int64_t n, Call call, AtRest at_rest) {
    SCOPED_TRACE("failure " + std::to_string(n));
    FailAllocationOf(&IsOwnAllocation, n);
    const std::string error = call();
    EXPECT_TRUE(at_rest());
    const bool failed = HasFailedOf();
    FailAllocationOf(nullptr, 0);
    EXPECT_TRUE(failed || error.empty()) << "refused without a failure: " << error;
    ++(error.empty() ? served_ : refused_);
    EXPECT_EQ(call(), "") << "after the failure";
    return failed;
  }

  /// Fails one after the other until there is none left.
  template <typename Call, typename AtRest>
  void FailEach(Call call, AtRest at_rest) {
    int64_t n = 1;
    while (FailOne(n, call, at_rest)) ++n;
    Report(n - 1);
  }

  void Report(int64_t injected) const {
    EXPECT_GE(injected, 3);
    SafetyCount("faults_injected", static_cast<uint64_t>(injected));
    SafetyCount("requests_refused", refused_);
    SafetyCount("requests_served", served_);
  }
  uint64_t refused() const { return refused_; }

 private:
  uint64_t served_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace harena::faults
