// Each allocation of a request failing in turn, in every mode: the request is refused, nothing is
// lost or broken, and the next one is served. Every failure has a process of its own, so that a
// death is seen too.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "harena/mem/failing_page_source.h"
#include "harena/pb/admin/method_set.h"
#include "harena/test/shapes.pb.h"
#include "tests/faults/failing_alloc.h"
#include "tests/faults/one_request.h"
#include "tests/safety_count.h"

namespace harena::faults {
namespace {

enum class Answer : int {
  kUntouched = 40,  // the request makes fewer allocations than that
  kRefused,
  kServed,     // it did without
  kWrong,      // neither: a wrong answer, or malformed
  kNextWrong,  // a later request was not served
  kLeak,
  kPagesLost,
};

struct Case {
  Mode mode;
  int warm_requests;  // served before, so that caches and kept messages are there
  void (*fail)(int64_t) noexcept;
};

// Whether every allocation has to be freed in the end. In mode codec the thread keeps string
// buffers for its next request, so that the number is no constant.
bool FreesAll(Mode mode) { return mode != Mode::kCodec; }

// Serves with the n-th allocation failing; then two requests without a failure.
Answer ServeAndLook(Case given, int64_t n, const std::string& wire) {
  FailingPageSource source;
  const int64_t live_before = LiveAllocations();
  Answer answer = Answer::kUntouched;
  {
    PagePool pool({.budget = nullptr}, source);
    {
      Echo echo(pool, given.mode);
      for (int i = 0; i < given.warm_requests; ++i) {
        if (echo.Serve(wire) != Outcome::kServed) return Answer::kNextWrong;
      }
      given.fail(n);
      const Outcome outcome = echo.Serve(wire);
      const bool failed = HasFailed();
      given.fail(0);
      if (outcome == Outcome::kWrong) return Answer::kWrong;
      if (outcome == Outcome::kRefused && !failed) return Answer::kNextWrong;
      if (failed) answer = outcome == Outcome::kServed ? Answer::kServed : Answer::kRefused;
      for (int i = 0; i < 2; ++i) {
        if (echo.Serve(wire) != Outcome::kServed) return Answer::kNextWrong;
      }
    }
    if (pool.stats().bytes_in_use != 0) return Answer::kPagesLost;
  }
  if (source.mapped_bytes() != 0) return Answer::kPagesLost;
  if (!FreesAll(given.mode)) return answer;
  return LiveAllocations() == live_before ? answer : Answer::kLeak;
}

// The same in a process of its own; the answer is how it ended, as wait() says it.
int InChild(Case given, int64_t n, const std::string& wire) {
  const pid_t child = fork();
  if (child == 0) {
    PrintPlaceOnDeath();
    alarm(300);  // a test machine may be slow
    // A first round that nothing is expected of but to make what a thread makes once.
    static_cast<void>(ServeAndLook({given.mode, 2, given.fail}, 0, wire));
    _exit(static_cast<int>(ServeAndLook(given, n, wire)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return status;
}

struct Counts {
  int64_t injected = 0;
  int64_t refused = 0;
  int64_t served = 0;
  int64_t lost = 0;
  int64_t leaked = 0;
};

// Whether an exception may leave the copy constructor of a message on an arena. Where it may not,
// repeated fields free elements there which are the arena's.
constexpr bool kCopiesMayThrow = GOOGLE_PROTOBUF_VERSION < 5027000;

void FailInTurn(Case given, int64_t failures_min) {
  if (!kCopiesMayThrow) {
    GTEST_SKIP() << "this protobuf frees elements of an arena when memory runs out in a copy";
  }
  const std::string wire = ShapesWire(3);
  Counts counts;
  for (int64_t n = 1; n < 10'000; ++n) {
    const int status = InChild(given, n, wire);
    if (WIFSIGNALED(status)) {
      ADD_FAILURE() << ToString(given.mode) << ": the process did not survive failure " << n
                    << ": signal " << WTERMSIG(status);
      ++counts.lost;
      continue;
    }
    const auto answer = static_cast<Answer>(WEXITSTATUS(status));
    if (answer == Answer::kUntouched) break;
    ++counts.injected;
    counts.refused += answer == Answer::kRefused;
    counts.served += answer == Answer::kServed;
    counts.leaked += answer == Answer::kLeak || answer == Answer::kPagesLost;
    EXPECT_TRUE(answer == Answer::kRefused || answer == Answer::kServed)
        << ToString(given.mode) << ": failure " << n << " ended with " << static_cast<int>(answer);
  }
  EXPECT_GE(counts.injected, failures_min);
  EXPECT_GE(counts.refused, 1);
  SafetyCount("faults_injected", static_cast<uint64_t>(counts.injected + counts.lost));
  SafetyCount("requests_refused", static_cast<uint64_t>(counts.refused));
  SafetyCount("requests_served", static_cast<uint64_t>(counts.served + 2 * counts.injected));
  SafetyCount("processes_lost", static_cast<uint64_t>(counts.lost));
  SafetyCount("bytes_leaked", static_cast<uint64_t>(counts.leaked));
}

class AllocationsFailingInTurn : public testing::TestWithParam<Mode> {};

TEST_P(AllocationsFailingInTurn, InTheFirstRequest) {
  FailInTurn({GetParam(), 0, &FailAllocation}, /*failures_min=*/4);
}

TEST_P(AllocationsFailingInTurn, InALaterRequest) {
  FailInTurn({GetParam(), 3, &FailAllocation}, /*failures_min=*/4);
}

constexpr auto kName = [](const auto& info) { return std::string(ToString(info.param)); };

// Not mode heap, where nothing of Harena's takes part: protobuf 3.21 does not survive it there.
// When Map::InnerMap::Resize() is refused its table, the map's destructor walks one that is not
// there.
INSTANTIATE_TEST_SUITE_P(Modes, AllocationsFailingInTurn,
                         testing::Values(Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec),
                         kName);

// A thread that looks for idle memory, and finds none for its own lists.
TEST(AllocationsFailing, InTheBackgroundEndNothing) {
  SpareThisThread();
  const auto& prototype = harena::test::Shapes::default_instance();
  pb::MethodSet set("test");
  for (int i = 0; i < 2; ++i) {
    set.Add(std::make_shared<pb::Method>("a.Method", Options(), prototype, prototype,
                                         pb::MessageTypes{.why_not_reusable = std::nullopt}));
  }
  set.StartDecay(std::chrono::milliseconds(1), /*trim_heap=*/false);
  constexpr int kAllocations = 2;  // the methods, and their pools
  for (int n = 1; n <= kAllocations; ++n) {
    FailAllocationOf([](void* const*, int) { return true; }, n);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!HasFailedOf() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_TRUE(HasFailedOf()) << n;
    FailAllocationOf(nullptr, 0);
  }
  SafetyCount("faults_injected", kAllocations);
}

// Neither huge pages nor giving memory back: everything is served, and only the bound cannot be
// held.
TEST(AdviceFailing, IsOnlyAdvice) {
  const std::string wire = ShapesWire(100);
  FailAdvice(true);
  uint64_t served = 0;
  {
    PagePool pool({.retained_bytes_max = 0, .huge_pages = HugePages::kAdvise, .budget = nullptr});
    for (const Mode mode : kModes) {
      Echo echo(pool, mode);
      for (int i = 0; i < 20; ++i, ++served) EXPECT_EQ(echo.Serve(wire), Outcome::kServed);
    }
    pool.Trim();
    EXPECT_EQ(pool.stats().bytes_in_use, 0u);
    EXPECT_GT(pool.stats().bytes_retained, 0u);
    FailAdvice(false);
    pool.Trim();
    EXPECT_EQ(pool.stats().bytes_mapped, 0u);
  }
  SafetyCount("faults_injected", served);
  SafetyCount("requests_served", served);
}

}  // namespace
}  // namespace harena::faults
