// Limits: of a request while brpc parses it, in the handler, and of the process.
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brpc/serialized_request.h>
#include <gmock/gmock.h>

#include "harena/adapters/brpc/admission.h"
#include "harena/adapters/brpc/test_rig.h"
#include "harena/adapters/brpc/within_budget.h"
#include "harena/base/log.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/codec/test_log.h"
#include "harena/test/brpc_strict.pb.h"

namespace harena::brpc {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

// What Harena said, in order. One test at a time.
std::vector<std::string>& Said() {
  static auto& said = *new std::vector<std::string>;
  return said;
}
std::mutex said_mutex;
void Listen(Severity, std::string_view sentence) {
  std::lock_guard lock(said_mutex);
  Said().emplace_back(sentence);
}
std::string AllSaid() {
  std::lock_guard lock(said_mutex);
  std::string all;
  for (const auto& sentence : Said()) all += sentence + "\n";
  return all;
}

// 60 KB of wire that wants some megabytes: empty items. More would not fit into the first window of
// an h2 connection.
Task Bomb() {
  Task bomb;
  for (int i = 0; i < 30'000; ++i) bomb.add_items();
  return bomb;
}

class Budgets : public ModeTest {};
INSTANTIATE_TEST_SUITE_P(Modes, Budgets,
                         ::testing::Values(Mode::kArena, Mode::kPages, Mode::kCodec), ModeName);

// What was said in brpc's log while it stands.
class BrpcLog : public logging::LogSink {
 public:
  BrpcLog() : min_level_(logging::GetMinLogLevel()), outer_(logging::SetLogSink(this)) {
    logging::SetMinLogLevel(logging::BLOG_WARNING);
  }
  ~BrpcLog() override {
    logging::SetLogSink(outer_);
    logging::SetMinLogLevel(min_level_);
  }

  bool OnLogMessage(int severity, const char*, int, const butil::StringPiece& line) override {
    const std::lock_guard lock(mutex_);
    if (severity == logging::BLOG_WARNING) warnings_.push_back(line.as_string());
    return true;
  }
  std::vector<std::string> WarningsOf(const std::string& part) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> found;
    for (const std::string& line : warnings_) {
      if (line.find(part) != std::string::npos) found.push_back(line);
    }
    return found;
  }

 private:
  const int min_level_;
  logging::LogSink* const outer_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

// A client that sends nothing else must not fill the log.
TEST_P(Budgets, RefusalsAreSaidOnceASecondInBrpcsLog) {
  Rig rig;
  rig.Start(Options{.mode = GetParam(), .request_bytes_max = kMiB});
  BrpcLog log;
  constexpr size_t kRefused = 50;
  const auto begin = std::chrono::steady_clock::now();
  const Task bomb = Bomb();
  for (size_t i = 0; i < kRefused; ++i) EXPECT_EQ(rig.Run(bomb), ::brpc::EREQUEST);
  rig.ExpectAllMemoryBack();
  // The one before the first may have been said by another test a moment ago.
  while (log.WarningsOf(kRun).empty() &&
         std::chrono::steady_clock::now() < begin + std::chrono::seconds(30)) {
    EXPECT_EQ(rig.Run(bomb), ::brpc::EREQUEST);
  }
  rig.ExpectAllMemoryBack();
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
  const std::vector<std::string> said = log.WarningsOf(kRun);
  EXPECT_GE(said.size(), 1u);
  EXPECT_LE(said.size(), static_cast<size_t>(seconds.count()) + 2);
  EXPECT_GE(rig.stats().refused, kRefused);
  EXPECT_THAT(said, Each(HasSubstr("request_bytes_max is 1048576")));
}

TEST_P(Budgets, AParseThatWantsTooMuchIsRefused) {
  Rig rig;
  rig.Start(Options{.mode = GetParam(), .request_bytes_max = kMiB});
  int refused = 0;
  for (const char* protocol : {"baidu_std", "http:proto", "h2:grpc"}) {
    const auto channel = rig.Connect(protocol);
    test::brpc::Work::Stub stub(channel.get());
    for (const bool bomb : {false, true, true, false}) {
      // A client of brpc takes gRPC's status of a bad request for a broken connection: the last
      // one.
      if (refused == 5) break;
      refused += bomb;
      const Task task = bomb ? Bomb() : MakeTask();
      Controller controller;
      Result result;
      stub.Run(&controller, &task, &result, nullptr);
      EXPECT_EQ(controller.Failed(), bomb) << protocol << ": " << controller.ErrorText();
      EXPECT_THAT(controller.ErrorText(), HasSubstr(bomb ? "Fail to parse" : ""));
      EXPECT_LE(rig.pool().stats().bytes_in_use, kMiB + 2 * rig.pool().options().page_bytes);
    }
  }
  rig.ExpectAllMemoryBack();
  EXPECT_EQ(rig.stats().refused, 5u);
}

TEST_P(Budgets, AParseBeyondItsRatioIsRefused) {
  Rig rig;
  rig.Start(Options{.mode = GetParam(), .decoded_ratio_max = 10, .decoded_floor_bytes = 4096});
  const auto channel = rig.Connect("baidu_std");
  test::brpc::Work::Stub stub(channel.get());
  const Task task = Bomb();
  Controller controller;
  Result result;
  stub.Run(&controller, &task, &result, nullptr);
  EXPECT_TRUE(controller.Failed());
  rig.ExpectAllMemoryBack();
  EXPECT_EQ(rig.stats().refused_by.decoded_ratio_max, 1u);
}

TEST_P(Budgets, WhatTheHandlerAddsIsHeldWithinBudget) {
  Rig rig;
  rig.Start(Options{.mode = GetParam(), .request_bytes_max = kMiB});
  rig.service.on_run = [](Controller* controller, const Task* task, Result* result, Closure* done) {
    Scope& scope = ScopeOf(*result);
    WithinBudget(*controller, scope, [&] {
      for (int64_t i = 0; i < task->number(); ++i) result->add_items()->add_scores(i);
    });
    done->Run();
  };
  Task task;
  for (const int64_t items : {100, 1'000'000, 100}) {
    task.set_number(items);
    std::string error_text;
    EXPECT_EQ(rig.Run(task, nullptr, &error_text), items == 100 ? 0 : ::brpc::ELIMIT);
    EXPECT_THAT(error_text, HasSubstr(items == 100 ? "" : "request_bytes_max"));
  }
  rig.ExpectAllMemoryBack();
}

class StrictService final : public test::brpc::Strictly {
  void Keep(RpcController*, const test::brpc::Strict* in, test::brpc::Strict* out,
            Closure* done) override {
    *out = *in;
    done->Run();
  }
};

// protobuf's list of missing fields names each by its whole path: here a hundred times the wire.
TEST_P(Budgets, MissingFieldsAreNotListedWithinALimit) {
  test::brpc::Strict strict;
  for (int i = 0; i < 500; ++i) strict.add_inner();
  for (int level = 0; level < 80; ++level) {
    test::brpc::Strict outer;
    *outer.add_inner() = std::move(strict);
    strict = std::move(outer);
  }
  const std::string missing = strict.SerializePartialAsString();
  const std::string complete = "\x0a\x04name";
  for (const bool limited : {true, false}) {
    StrictService service;
    Rig rig;
    rig.served = &service;
    rig.Start(Options{.mode = GetParam(), .request_bytes_max = limited ? kMiB : kUnlimitedBytes});
    const auto channel = rig.Connect();
    const auto baidu_std = [&](const std::string& wire) {
      ::brpc::SerializedRequest request;
      request.serialized_data().append(wire);
      Controller controller;
      test::brpc::Strict response;
      channel->CallMethod(test::brpc::Strictly::descriptor()->method(0), &controller, &request,
                          &response, nullptr);
      return controller.ErrorCode();
    };
    const auto http = [&](const std::string& wire) {
      return rig.Http("/harena.test.brpc.Strictly/Keep", wire, "application/proto");
    };
    EXPECT_EQ(baidu_std(complete), 0);
    EXPECT_EQ(http(complete), complete);
    const auto listed = pb::codec::test::LogOf([&] {
      EXPECT_EQ(baidu_std(missing), ::brpc::EREQUEST);
      EXPECT_THAT(http(missing), HasSubstr("400: "));
      rig.ExpectAllMemoryBack();
    });
    size_t listed_bytes = 0;
    for (const std::string& line : listed) listed_bytes += line.size();
    if (limited) {
      EXPECT_EQ(listed_bytes, 0u);
      EXPECT_EQ(rig.stats("harena.test.brpc.Strictly.Keep").malformed, 2u);
      EXPECT_EQ(rig.stats("harena.test.brpc.Strictly.Keep").refused, 0u);
    } else {
      EXPECT_GT(listed_bytes, 50 * missing.size()) << "protobuf's own way";
    }
  }
}

TEST(Budgets, ALimitThatCannotHoldIsSaid) {
  SetLogSink(&Listen);
  Rig rig;
  rig.Start(Options{.request_bytes_max = kMiB});
  const auto channel = rig.Connect();
  test::brpc::Plain::Stub stub(channel.get());
  Form form;
  form.set_name("name");
  Form answer;
  Controller controller;
  stub.Check(&controller, &form, &answer, nullptr);
  EXPECT_FALSE(controller.Failed());
  EXPECT_THAT(AllSaid(),
              AllOf(HasSubstr(kCheck), HasSubstr("harena.test.brpc.Form was generated without")));
  SetLogSink(nullptr);
}

class ProcessBudgetTest : public ::testing::Test {
 protected:
  ~ProcessBudgetTest() override { ProcessBudget().set_bytes_max(kUnlimitedBytes); }
};

TEST_F(ProcessBudgetTest, AdmissionAnswersElimit) {
  Rig rig;
  ::brpc::ServerOptions server_options;
  server_options.interceptor = new Admission;
  server_options.server_owns_interceptor = true;
  rig.Start(FactoryOptions{}, server_options);
  EXPECT_EQ(rig.Run(MakeTask()), 0);
  rig.ExpectAllMemoryBack();
  ProcessBudget().set_bytes_max(1);
  std::string error_text;
  EXPECT_EQ(rig.Run(MakeTask(), nullptr, &error_text), ::brpc::ELIMIT);
  EXPECT_THAT(error_text, HasSubstr("process_bytes_max"));
  ProcessBudget().set_bytes_max(kUnlimitedBytes);
  EXPECT_EQ(rig.Run(MakeTask()), 0);
}

TEST_F(ProcessBudgetTest, AdmissionAsksTheNext) {
  struct Never : ::brpc::Interceptor {
    bool Accept(const ::brpc::Controller*, int& code, std::string& text) const override {
      code = EPERM;
      text = "never";
      return false;
    }
  };
  Rig rig;
  ::brpc::ServerOptions server_options;
  server_options.interceptor = new Admission(std::make_unique<Never>());
  server_options.server_owns_interceptor = true;
  rig.Start(FactoryOptions{}, server_options);
  EXPECT_EQ(rig.Run(MakeTask()), EPERM);
}

// brpc cannot be told no when it asks for messages: without an Admission the call is served.
TEST_F(ProcessBudgetTest, WithoutMemoryForAScopeAsWithoutHarena) {
  Rig rig;
  rig.Start(Mode::kCodec);
  rig.service.on_run = [](Controller*, const Task* task, Result* result, Closure* done) {
    EXPECT_EQ(FindScope(*result), nullptr);
    EXPECT_EQ(result->GetArena(), nullptr);
    Answer(*task, result);
    done->Run();
  };
  ProcessBudget().set_bytes_max(1);
  Result result;
  EXPECT_EQ(rig.Run(MakeTask(), &result), 0);
  EXPECT_EQ(result.text(), Expected(MakeTask()).text());
  EXPECT_EQ(rig.stats().refused, 1u);
  EXPECT_EQ(rig.stats().scopes.scopes_refused, 1u);
}

}  // namespace
}  // namespace harena::brpc
