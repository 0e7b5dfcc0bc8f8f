// The answer to every payload is the same, byte for byte, wherever the messages live.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "bench/workloads/wire.h"
#include "bench/workloads/workloads.h"
#include "harena/mem/test_pool.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/call/message_keeper.h"
#include "harena/pb/parse/parse.h"
#include "harena/pb/parse/test_stream.h"
#include "harena/scope/scope_pool.h"

namespace harena::pb {
namespace {

class Differential : public testing::TestWithParam<std::string> {};

// A few of the sizes when there are many.
std::vector<std::string> SomeRequests(const bench::Workload& workload) {
  std::vector<std::string> some;
  const size_t step = std::max<size_t>(workload.requests.size() / 4, 1);
  for (size_t i = 0; i < workload.requests.size(); i += step) {
    some.push_back(workload.requests[i]);
  }
  return some;
}

template <typename Typed>
std::string Answer(Typed typed, ScopePool& scopes, MessageKeeper& keeper, std::string_view wire,
                   bool chunked) {
  using Request = typename Typed::Request;
  using Response = typename Typed::Response;
  if (scopes.mode() == Mode::kHeap) {
    Request request;
    Response response;
    EXPECT_TRUE(request.ParseFromArray(wire.data(), static_cast<int>(wire.size())));
    typed.Handle(request, &response);
    return bench::DeterministicBytes(response);
  }
  Scope scope = scopes.Acquire();
  Request* request = nullptr;
  Response* response = nullptr;
  if (scope.mode() == Mode::kReuse) {
    const MessageKeeper::Pair pair = keeper.Take(scope);
    request = static_cast<Request*>(pair.request);
    response = static_cast<Response*>(pair.response);
  } else {
    request = scope.CreateMessage<Request>();
    response = scope.CreateMessage<Response>();
  }
  test::ChunkedStream stream(wire, chunked ? 1000 : wire.size());
  EXPECT_TRUE(Parse(scope, stream, wire.size(), *request));
  const BudgetFrame frame(scope.budget());
  typed.Handle(*request, response);
  return bench::DeterministicBytes(*response);
}

TEST_P(Differential, EveryModeEqualsHeapMode) {
  const bench::Workload workload = bench::LoadWorkload(GetParam());
  const std::vector<std::string> requests = SomeRequests(workload);
  std::vector<std::string> expected;
  for (const std::string& wire : requests) {
    expected.push_back(bench::ExpectedResponse(workload.method, wire));
  }
  PagePool pool(TestOptions());
  bench::VisitMethod(workload.method, [&](auto typed) {
    using Typed = decltype(typed);
    for (const Mode mode : kModes) {
      const Options options{.mode = mode,
                            .request_bytes_max = mode == Mode::kHeap ? kUnlimitedBytes : 64 * kMiB,
                            .page_pool = &pool};
      MessageKeeper keeper(Typed::Request::default_instance(), Typed::Response::default_instance(),
                           options);
      ScopePool scopes(options);
      for (const bool chunked : {true, false}) {  // then on recycled pages, or kept instances
        for (size_t i = 0; i < requests.size(); ++i) {
          EXPECT_EQ(Answer(typed, scopes, keeper, requests[i], chunked), expected[i])
              << ToString(mode);
        }
      }
    }
  });
  EXPECT_EQ(pool.stats().bytes_in_use, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, Differential, testing::ValuesIn(bench::WorkloadNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace harena::pb
