// Methods on scopes: every mode, through tRPC's service, contexts and serializations.
#include "harena/adapters/trpc/services.h"

#include <any>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <trpc/util/log/logging.h>

#include "harena/adapters/trpc/scope_of.h"
#include "harena/adapters/trpc/test_rig.h"
#include "harena/adapters/trpc/within_budget.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/arena/message.h"

namespace harena::trpc {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr Mode kModes[] = {Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec};

class ServicesTest : public TrpcTest {
 protected:
  ~ServicesTest() override {
    if (!services_) return;
    EXPECT_EQ(stats().scopes.scopes_live(), 0u);
    EXPECT_EQ(pool_.stats().bytes_in_use, stats().kept.bytes_idle);
  }

  void Serve(Options options) {
    options.page_pool = &pool_;
    services_.emplace(ServicesOptions{.defaults = options});
    services_->Serve(service_, kRun, &WorkService::Run);
    services_->Serve(service_, kHold, &WorkService::Hold);
    services_->Serve(service_, kCheck, &WorkService::Check);
  }
  void Serve(Mode mode) { Serve(Options{.mode = mode}); }

  pb::MethodStats stats(size_t method = 0) const { return services_->stats().at(method); }

  // In the order of their lifetimes: blocks are returned to the pool by whatever is below it.
  PagePool pool_;
  std::optional<Services> services_;
  WorkService service_;
};

class EveryMode : public ServicesTest, public ::testing::WithParamInterface<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, EveryMode, ::testing::ValuesIn(kModes),
                         [](const auto& info) { return std::string(ToString(info.param)); });

TEST_P(EveryMode, AnswersTheSame) {
  Serve(GetParam());
  for (const int items : {0, 20, 2000, 3}) {
    OneCall call(service_);
    call.Run(kRun, MakeTask(items));
    EXPECT_TRUE(call.ok()) << call.context()->GetStatus().ErrorMessage();
    EXPECT_TRUE(MessageDifferencer::Equals(call.Reply<Result>(), Expected(MakeTask(items))));
    EXPECT_EQ(stats().scopes.scopes_live(), 0u) << "gone as soon as the response is serialized";
  }
  EXPECT_EQ(stats().requests, 4u);
  EXPECT_EQ(stats().scopes.scopes_made, 4u);
}

TEST_P(EveryMode, JsonAndCompression) {
  Serve(GetParam());
  OneCall json(service_);
  json.context()->SetReqEncodeType(::trpc::serialization::kJsonType);
  json.Run(kRun, ::trpc::CreateBufferSlow(R"({"text": "as JSON", "number": 6})"));
  EXPECT_EQ(json.Reply<Result>().text(), "re: as JSON");

  OneCall packed(service_);
  NoncontiguousBuffer bytes = BytesOf(MakeTask());
  ASSERT_TRUE(::trpc::compressor::CompressIfNeeded(::trpc::compressor::kSnappy, bytes));
  packed.context()->SetReqCompressType(::trpc::compressor::kSnappy);
  packed.context()->SetRspCompressType(::trpc::compressor::kSnappy);
  packed.Run(kRun, std::move(bytes));
  ASSERT_TRUE(
      ::trpc::compressor::DecompressIfNeeded(::trpc::compressor::kSnappy, packed.reply_bytes()));
  EXPECT_TRUE(MessageDifferencer::Equals(packed.Reply<Result>(), Expected(MakeTask())));
}

TEST_P(EveryMode, RequestsThatAreNone) {
  Serve(GetParam());
  OneCall call(service_);
  call.Run(kRun, ::trpc::CreateBufferSlow("\x0a\xff nothing of the kind"));
  EXPECT_EQ(call.code(), ::trpc::TrpcRetCode::TRPC_SERVER_DECODE_ERR);
  EXPECT_EQ(stats().malformed, 1u);

  OneCall unpackable(service_);
  unpackable.context()->SetReqCompressType(::trpc::compressor::kSnappy);
  unpackable.Run(kRun, ::trpc::CreateBufferSlow("\xff\xff\xff\xff not snappy"));
  EXPECT_EQ(unpackable.code(), ::trpc::TrpcRetCode::TRPC_SERVER_DECODE_ERR);
}

TEST_P(EveryMode, TheScopeOfACall) {
  Serve(GetParam());
  DetachedScope kept;
  const Task* kept_task = nullptr;
  service_.on_run = [&](const ServerContextPtr& context, const Task& task, Result& result) {
    Scope& scope = ScopeOf(*context);
    auto* draft = scope.CreateMessage<Result>();
    Answer(task, draft);
    result = *draft;
    kept = scope.Detach();
    kept_task = &task;
    return ::trpc::kSuccStatus;
  };
  {
    OneCall call(service_);
    call.Run(kRun, MakeTask());
    EXPECT_TRUE(MessageDifferencer::Equals(call.Reply<Result>(), Expected(MakeTask())));
    EXPECT_EQ(FindScope(*call.context()), nullptr) << "the call is over";
  }
  EXPECT_EQ(stats().scopes.scopes_live(), 1u);
  std::thread([kept = std::move(kept), kept_task] {
    EXPECT_TRUE(MessageDifferencer::Equals(*kept_task, MakeTask()));
  }).join();
}

// The handler answers later, on another thread, by the response that it was given. (tRPC's own
// handler never frees that one.)
TEST_P(EveryMode, AnAnswerLater) {
  Serve(GetParam());
  Result* given = nullptr;
  service_.on_run = [&](const ServerContextPtr& context, const Task& task, Result& result) {
    context->SetResponse(false);
    Answer(task, &result);
    given = &result;
    return ::trpc::kSuccStatus;
  };
  for (const bool own_response : {false, true}) {
    OneCall call(service_);
    call.context()->SetCallType(::trpc::kOnewayCall);  // there is no connection to send it on
    call.Run(kRun, MakeTask());
    EXPECT_EQ(stats().scopes.scopes_live(), 1u);
    std::thread([&] {
      Result own = *given;
      call.context()->SendUnaryResponse(::trpc::kSuccStatus, own_response ? own : *given);
    }).join();
    EXPECT_EQ(stats().scopes.scopes_live(), 0u);
  }
  {
    OneCall call(service_);
    call.Run(kRun, MakeTask());
    EXPECT_EQ(stats().scopes.scopes_live(), 1u);
    // Never answered: it ends with its context.
  }
  EXPECT_EQ(stats().scopes.scopes_live(), 0u);
}

TEST_P(EveryMode, AFailedMethod) {
  Serve(GetParam());
  service_.on_run = [](const ServerContextPtr&, const Task&, Result&) { return Status(7, "no"); };
  OneCall call(service_);
  call.Run(kRun, MakeTask());
  EXPECT_EQ(call.context()->GetStatus().GetFuncRetCode(), 7);
  EXPECT_EQ(call.reply_bytes().ByteSize(), 0u);
}

TEST_P(EveryMode, ManyThreads) {
  Serve(GetParam());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 100; ++round) {
        OneCall call(service_);
        const Task task = MakeTask(t * 20 + round % 7);
        call.Run(kRun, task);
        if (!MessageDifferencer::Equals(call.Reply<Result>(), Expected(task))) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

using ServicesModes = ServicesTest;

TEST_F(ServicesModes, CodecsRequestsAreBytesOfTheScope) {
  Serve(Mode::kCodec);
  service_.on_run = [&](const ServerContextPtr&, const Task& task, Result& result) {
    EXPECT_EQ(PagePool::OwnerOf(task.text().data()), &pool_);
    EXPECT_EQ(PagePool::OwnerOf(task.items(3).name().data()), &pool_);
    Answer(task, &result);
    return ::trpc::kSuccStatus;
  };
  OneCall call(service_);
  call.Run(kRun, MakeTask());
  EXPECT_EQ(stats().served, Mode::kCodec);
  EXPECT_TRUE(MessageDifferencer::Equals(call.Reply<Result>(), Expected(MakeTask())));
}

TEST_F(ServicesModes, WhatCannotBeIsServedAsPages) {
  Serve(Mode::kReuse);
  EXPECT_EQ(stats(0).served, Mode::kReuse);
  EXPECT_EQ(stats(1).served, Mode::kPages);  // Clear() drops its sub-message
  ASSERT_EQ(services_->SetMode(Mode::kCodec), std::nullopt);
  EXPECT_EQ(stats(1).served, Mode::kCodec);
  EXPECT_EQ(stats(2).served, Mode::kPages);  // generated without the codec
}

TEST_F(ServicesModes, SwitchedWhileRunning) {
  Serve(Mode::kPages);
  for (const Mode mode : kModes) {
    ASSERT_EQ(services_->SetMode(kRun, mode), std::nullopt);
    OneCall call(service_);
    call.Run(kRun, MakeTask());
    EXPECT_TRUE(MessageDifferencer::Equals(call.Reply<Result>(), Expected(MakeTask())));
    EXPECT_EQ(stats().mode, mode);
    EXPECT_EQ(stats(1).mode, Mode::kPages);
  }
  EXPECT_THAT(services_->SetMode("Runn", Mode::kHeap), Optional(HasSubstr(kRun)));
}

class Limits : public ServicesTest, public ::testing::WithParamInterface<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, Limits, ::testing::Values(Mode::kArena, Mode::kPages, Mode::kCodec),
                         [](const auto& info) { return std::string(ToString(info.param)); });

TEST_P(Limits, HoldARequest) {
  Serve({.mode = GetParam(), .request_bytes_max = 256 << 10});
  Task task;
  for (int i = 0; i < 30'000; ++i) task.add_items();
  OneCall call(service_);
  call.Run(kRun, task);
  EXPECT_EQ(call.code(), ::trpc::TrpcRetCode::TRPC_SERVER_LIMITED_ERR);
  EXPECT_THAT(call.context()->GetStatus().ErrorMessage(), HasSubstr("request_bytes_max"));
  EXPECT_EQ(stats().refused, 1u);

  OneCall small(service_);
  small.Run(kRun, MakeTask());
  EXPECT_TRUE(small.ok());
}

TEST_P(Limits, HoldARequestToItsRatio) {
  Serve({.mode = GetParam(), .decoded_ratio_max = 10, .decoded_floor_bytes = 4096});
  Task task;
  for (int i = 0; i < 30'000; ++i) task.add_items();
  OneCall call(service_);
  call.Run(kRun, task);
  EXPECT_EQ(call.code(), ::trpc::TrpcRetCode::TRPC_SERVER_LIMITED_ERR);
  EXPECT_THAT(call.context()->GetStatus().ErrorMessage(), HasSubstr("decoded_ratio_max"));
  EXPECT_EQ(stats().refused_by.decoded_ratio_max, 1u);
}

TEST_P(Limits, EndAHandlerThatTakesTooMuch) {
  Serve({.mode = GetParam(), .request_bytes_max = 256 << 10});
  service_.on_run = [](const ServerContextPtr& context, const Task&, Result&) {
    Scope& scope = ScopeOf(*context);
    for (int i = 0; i < 1000; ++i) static_cast<void>(scope.resource()->allocate(10'000));
    return ::trpc::kSuccStatus;
  };
  OneCall call(service_);
  call.Run(kRun, MakeTask());
  EXPECT_EQ(call.code(), ::trpc::TrpcRetCode::TRPC_SERVER_LIMITED_ERR);
  EXPECT_EQ(stats().refused, 1u);
}

// Keeps the lines of tRPC's log.
class KeepingLog final : public ::trpc::Log {
 public:
  bool ShouldLog(const char*, Level) const override { return true; }
  bool ShouldLog(Level) const override { return true; }
  void LogIt(const char*, Level, const char*, int, const char*, std::string_view line,
             const std::unordered_map<uint32_t, std::any>&) const override {
    lines.emplace_back(line);
  }
  std::pair<Level, bool> GetLevel(const char*) const override { return {info, true}; }
  std::pair<Level, bool> SetLevel(const char*, Level) override { return {info, false}; }

  mutable std::vector<std::string> lines;
};

// Nobody but the log is told of these; whoever can cause one can cause any number.
TEST_F(ServicesModes, RefusalsWithoutAnAnswerAreSaidOnceASecond) {
  Serve({.mode = Mode::kCodec, .request_bytes_max = 256 << 10});
  service_.on_run = [](const ServerContextPtr& context, const Task&, Result&) {
    context->SetResponse(false);
    static_cast<void>(ScopeOf(*context).resource()->allocate(1 << 20));
    return ::trpc::kSuccStatus;
  };
  const auto log = ::trpc::MakeRefCounted<KeepingLog>();
  ::trpc::LogFactory::GetInstance()->Register(log);
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::steady_clock::now() - begin; };
  // One may have been said a moment before.
  for (int i = 0; i < 50 || (log->lines.empty() && passed() < std::chrono::seconds(30)); ++i) {
    OneCall call(service_);
    call.Run(kRun, MakeTask());
  }
  ::trpc::LogFactory::GetInstance()->Reset();
  EXPECT_GE(log->lines.size(), 1u);
  EXPECT_LE(log->lines.size(), static_cast<size_t>(passed() / std::chrono::seconds(1)) + 1);
  EXPECT_THAT(log->lines, Each(AllOf(HasSubstr("request_bytes_max is 262144"),
                                     HasSubstr("the client gets no answer"))));
  EXPECT_GE(stats().refused, 50u);
}

TEST(ServicesOptions, AreLookedAt) {
  EXPECT_EQ(ServicesOptions{}.Validate(), std::nullopt);
  EXPECT_THAT((ServicesOptions{.decay_interval = std::chrono::milliseconds(-1)}.Validate()),
              Optional(HasSubstr("below zero")));
  EXPECT_THAT((ServicesOptions{.defaults = {.mode = Mode::kReuse, .request_bytes_max = 1 << 20}}
                   .Validate()),
              Optional(HasSubstr("cannot hold request_bytes_max under tRPC")));
  EXPECT_THAT((ServicesOptions{.defaults = {.mode = Mode::kReuse, .depth_max = 9}}.Validate()),
              Optional(HasSubstr("cannot hold depth_max under tRPC")));
  EXPECT_THAT(
      (ServicesOptions{.defaults = {.mode = Mode::kReuse, .decoded_ratio_max = 50}}.Validate()),
      Optional(HasSubstr("cannot hold decoded_ratio_max under tRPC")));
  EXPECT_EQ((ServicesOptions{.defaults = {.decoded_ratio_max = 50}}.Validate()), std::nullopt);
}

using ServicesDeathTest = ServicesTest;

TEST_F(ServicesDeathTest, NamesThatAreNotThere) {
  Serve(Mode::kPages);
  EXPECT_DEATH(services_->Serve(service_, "Run", &WorkService::Run),
               "the service has no method \"Run\"; it has:.*/harena.test.trpc.Work/Run");
  EXPECT_DEATH(services_->Serve(service_, kStream, &WorkService::Run), "streams");
}

TEST_F(ServicesDeathTest, NoScope) {
  OneCall call(service_);
  EXPECT_DEATH(ScopeOf(*call.context()), "this call has no scope");
}

}  // namespace
}  // namespace harena::trpc
