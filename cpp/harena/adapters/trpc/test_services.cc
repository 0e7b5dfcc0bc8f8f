#include "harena/adapters/trpc/test_services.h"

#include <atomic>
#include <utility>
#include <vector>

#include <trpc/client/make_client_context.h>

#include "harena/adapters/trpc/decompression.h"
#include "harena/adapters/trpc/use_pages.h"
#include "harena/mem/page_pool.h"

namespace harena::trpc {
namespace {

std::unique_ptr<Everything> everything;

class Start final : public ::testing::Environment {
 public:
  void SetUp() override { everything = std::make_unique<Everything>(); }
  // Clients go on asking while the server ends. Nothing is left of what it served.
  void TearDown() override {
    const std::string frame = RawClient::Frame(kRun, MakeTask(100).SerializeAsString());
    std::atomic<int> answered{0};
    std::vector<std::thread> clients;
    for (const Mode mode : kModes) {
      clients.emplace_back([&, port = everything->server().port(NameOf(mode))] {
        RawClient client(port);
        while (client.Send(frame) && client.NextCode() == 0) ++answered;
      });
    }
    EXPECT_TRUE(Eventually([&] { return answered > 100; }));
    everything->EndServer();
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(everything->bytes_in_use(), 0u);
    for (const Mode mode : kModes) {
      for (const auto& method : everything->served(NameOf(mode)).services->stats()) {
        EXPECT_EQ(method.scopes.scopes_live(), 0u) << ToString(mode) << method.name;
      }
    }
    everything.reset();
  }
};
[[maybe_unused]] const auto* const start = ::testing::AddGlobalTestEnvironment(new Start);

}  // namespace

Everything::Everything() {
  UsePages();
  Add(kOwn, nullptr);
  for (const Mode mode : kModes) {
    Add(NameOf(mode), std::make_unique<Services>(ServicesOptions{
                          .defaults = {.mode = mode}, .expose_vars = mode == Mode::kCodec}));
  }
  const Options limited{.mode = Mode::kCodec, .request_bytes_max = 256 << 10};
  Add(kLimited,
      std::make_unique<Services>(ServicesOptions{.defaults = limited, .expose_vars = false}));
  std::vector<TestServer::Listening> listening;
  for (const auto& [name, one] : served_) listening.push_back({name, one.service});
  server_.emplace(std::move(listening));
  BoundDecompression(kDecompressedBytesMax);
}

size_t Everything::bytes_in_use() const {
  size_t kept = 0;
  for (const auto& [name, one] : served_) {
    if (!one.services) continue;
    for (const auto& method : one.services->stats()) kept += method.kept.bytes_idle;
  }
  const size_t in_use = PagePool::Default().stats().bytes_in_use;
  return in_use < kept ? 0 : in_use - kept;
}

void Everything::Add(const std::string& name, std::unique_ptr<Services> services) {
  Served& one = served_[name];
  one.services = std::move(services);
  if (!one.services) return;
  one.services->Serve(*one.service, kRun, &WorkService::Run);
  one.services->Serve(*one.service, kHold, &WorkService::Hold);
}

CallPool<Call>& CallsOf(Mode mode) {
  static PagePool pool;
  static CallPool<Call> calls[] = {
      CallPool<Call>({.mode = Mode::kHeap, .page_pool = &pool}),
      CallPool<Call>({.mode = Mode::kArena, .page_pool = &pool}),
      CallPool<Call>({.mode = Mode::kPages, .page_pool = &pool}),
      CallPool<Call>({.mode = Mode::kReuse, .page_pool = &pool}),
      CallPool<Call>({.mode = Mode::kCodec, .page_pool = &pool}),
  };
  for (size_t i = 0;; ++i) {
    if (kModes[i] == mode) return calls[i];
  }
}

ServerTest::~ServerTest() {
  for (const char* name : {kOwn, kLimited}) Of(name).service->on_run = nullptr;
  for (const Mode mode : kModes) Of(NameOf(mode)).service->on_run = nullptr;
  EXPECT_TRUE(Eventually([] { return everything->bytes_in_use() == 0; }))
      << everything->bytes_in_use();
}

Served& ServerTest::Of(const std::string& name) { return everything->served(name); }
TestServer& ServerTest::server() { return everything->server(); }

::testing::AssertionResult ServerTest::AnswersAsExpected(const std::string& name, const Task& task,
                                                         Mode client) {
  const auto proxy = server().Proxy(name);
  Call call = CallsOf(client).Acquire();
  call.request() = task;
  const ::trpc::ClientContextPtr context = ::trpc::MakeClientContext(proxy);
  const Status status = proxy->Run(context, call.request(), &call.response());
  if (!status.OK()) return ::testing::AssertionFailure() << status.ToString();
  if (!MessageDifferencer::Equals(call.response(), Expected(task))) {
    return ::testing::AssertionFailure() << "another answer";
  }
  return ::testing::AssertionSuccess();
}

}  // namespace harena::trpc
