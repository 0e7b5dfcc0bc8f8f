#include "harena/adapters/grpc/server.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <google/protobuf/arena.h>
#include <grpcpp/support/server_interceptor.h>
#include <gtest/gtest.h>

#include "harena/adapters/grpc/test_rig.h"
#include "harena/base/log.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/call/test_reusable.h"
#include "harena/test/grpc_lite.grpc.pb.h"
#include "harena/test/grpc_lite.harena.grpc.h"
#include "harena/test/grpc_strict.grpc.pb.h"
#include "harena/test/grpc_strict.harena.grpc.h"

namespace harena::grpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

std::string ReasonOf(const Server& server, std::string_view method) {
  for (const UncoveredMethod& uncovered : server.uncovered()) {
    if (uncovered.name == method) return uncovered.reason;
  }
  return "covered";
}

class ServerModes : public ModeTest {};
INSTANTIATE_TEST_SUITE_P(Modes, ServerModes, ::testing::ValuesIn(kModes), ModeName);

TEST_P(ServerModes, AnswersAsPlainGrpcByteForByte) {
  // Without maps, whose order is nobody's promise.
  Task task = MakeTask();
  for (auto& item : *task.mutable_items()) item.clear_labels();
  const std::string wire = task.SerializeAsString();
  std::string expected;
  {
    Rig<> plain;
    plain.StartPlain();
    ASSERT_TRUE(plain.RunRaw(wire, &expected).ok());
  }
  Rig<> rig;
  rig.Start(GetParam());
  for (int i = 0; i < 5; ++i) {
    std::string answer;
    ASSERT_TRUE(rig.RunRaw(wire, &answer).ok());
    EXPECT_EQ(answer, expected);
  }
  rig.ExpectAllMemoryBack();
  EXPECT_EQ(rig.stats().requests, 5u);
  EXPECT_EQ(rig.stats().scopes.scopes_made, 5u);
}

TEST_P(ServerModes, MessagesStandWhereTheModeSays) {
  Rig<> rig;
  google::protobuf::Arena* request_arena = nullptr;
  google::protobuf::Arena* response_arena = nullptr;
  google::protobuf::Arena* scope_arena = nullptr;
  rig.service.on_run = [&](::grpc::CallbackServerContext* context, const Task* task,
                           Result* result) {
    request_arena = task->GetArena();
    response_arena = result->GetArena();
    Scope& scope = ScopeOf(*context);
    EXPECT_EQ(scope.mode(), GetParam());
    scope_arena = scope.CreateMessage<Task>()->GetArena();
    return FinishNow();
  };
  rig.Start(GetParam());
  ASSERT_TRUE(rig.Run(MakeTask()).ok());
  EXPECT_EQ(request_arena, response_arena);
  EXPECT_NE(scope_arena, nullptr);
  switch (GetParam()) {
    case Mode::kHeap:
      EXPECT_EQ(request_arena, nullptr);
      break;
    case Mode::kArena:
    case Mode::kPages:
    case Mode::kCodec:
      EXPECT_EQ(request_arena, scope_arena);
      break;
    case Mode::kReuse:  // kept messages outlive the scope
      EXPECT_NE(request_arena, nullptr);
      EXPECT_NE(request_arena, scope_arena);
      break;
  }
}

TEST_P(ServerModes, ScopeOfWorksInTheHandlerAndInOnDone) {
  Rig<> rig;
  std::atomic<bool> done{false};
  rig.service.on_run = [&](::grpc::CallbackServerContext* context, const Task* task,
                           Result* result) {
    Scope& scope = ScopeOf(*context);
    EXPECT_EQ(FindScope(*context), &scope);
    auto* note = scope.Create<std::string>("made in the handler, long enough for the heap");
    Answer(*task, result);
    auto* reactor = new TestReactor([&, context, note, task, result] {
      // The call is over for the client, and everything is still here.
      EXPECT_EQ(FindScope(*context), &scope);
      EXPECT_EQ(rig.scopes_live(), 1u);
      EXPECT_EQ(*note, "made in the handler, long enough for the heap");
      EXPECT_EQ(result->text(), "re: " + task->text());
      done = true;
    });
    reactor->Finish(::grpc::Status::OK);
    return reactor;
  };
  rig.Start(GetParam());
  ASSERT_TRUE(rig.Run(MakeTask()).ok());
  rig.ExpectAllMemoryBack();
  EXPECT_TRUE(done);
}

// Sees what gRPC shows to interceptors, and casts it as an interceptor would.
class SeenByInterceptor final : public ::grpc::experimental::Interceptor {
 public:
  struct Seen {
    std::mutex mutex;
    std::vector<std::string> requests, responses;
  };
  explicit SeenByInterceptor(Seen& seen) : seen_(seen) {}

  void Intercept(::grpc::experimental::InterceptorBatchMethods* methods) override {
    using Hook = ::grpc::experimental::InterceptionHookPoints;
    {
      std::lock_guard lock(seen_.mutex);
      if (methods->QueryInterceptionHookPoint(Hook::POST_RECV_MESSAGE)) {
        const auto* task = static_cast<const Task*>(methods->GetRecvMessage());
        if (task != nullptr) seen_.requests.push_back(task->text());
      }
      if (methods->QueryInterceptionHookPoint(Hook::PRE_SEND_MESSAGE)) {
        const auto* result = static_cast<const Result*>(methods->GetSendMessage());
        if (result != nullptr) seen_.responses.push_back(result->text());
      }
    }
    // Without the lock: the rest of the call runs in here.
    methods->Proceed();
  }

 private:
  Seen& seen_;
};

class InterceptorFactory final : public ::grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit InterceptorFactory(SeenByInterceptor::Seen& seen) : seen_(seen) {}
  ::grpc::experimental::Interceptor* CreateServerInterceptor(
      ::grpc::experimental::ServerRpcInfo*) override {
    return new SeenByInterceptor(seen_);
  }

 private:
  SeenByInterceptor::Seen& seen_;
};

TEST_P(ServerModes, InterceptorsSeeTheRealMessages) {
  SeenByInterceptor::Seen seen;
  Rig<> rig;
  Options options{.mode = GetParam()};
  if (GetParam() != Mode::kHeap) options.request_bytes_max = kMiB;
  rig.Start(options, [&](::grpc::ServerBuilder& builder) {
    std::vector<std::unique_ptr<::grpc::experimental::ServerInterceptorFactoryInterface>> factories;
    factories.push_back(std::make_unique<InterceptorFactory>(seen));
    builder.experimental().SetInterceptorCreators(std::move(factories));
  });
  ASSERT_TRUE(rig.Run(MakeTask()).ok());
  EXPECT_EQ(seen.requests, std::vector<std::string>{MakeTask().text()});
  EXPECT_EQ(seen.responses, std::vector<std::string>{"re: " + MakeTask().text()});
  if (GetParam() != Mode::kHeap) {
    // As a malformed request in plain gRPC: no message, and not one that was left half way.
    EXPECT_EQ(rig.RunRaw(BombWire()).error_code(), ::grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(seen.requests.size(), 1u);
  }
  rig.ExpectAllMemoryBack();
}

TEST_P(ServerModes, ServesTheDefaultReactor) {
  Rig<> rig;
  rig.service.on_run = [](::grpc::CallbackServerContext* context, const Task* task,
                          Result* result) {
    Answer(*task, result);
    auto* reactor = context->DefaultReactor();
    reactor->Finish(::grpc::Status::OK);
    return reactor;
  };
  rig.Start(GetParam());
  Result result;
  ASSERT_TRUE(rig.Run(MakeTask(), &result).ok());
  EXPECT_EQ(result.items_size(), MakeTask().items_size());
  rig.ExpectAllMemoryBack();
}

TEST(ServerTest, FindScopeIsNullForAnUnwrappedService) {
  Rig<> rig;
  Scope* found = reinterpret_cast<Scope*>(1);
  rig.service.on_run = [&](::grpc::CallbackServerContext* context, const Task*, Result*) {
    found = FindScope(*context);
    return FinishNow();
  };
  rig.StartPlain();
  ASSERT_TRUE(rig.Run(MakeTask()).ok());
  EXPECT_EQ(found, nullptr);
}

// A user's own MessageAllocator, as gRPC documents it.
class OwnAllocator final : public ::grpc::MessageAllocator<Task, Result> {
 public:
  class Holder final : public ::grpc::MessageHolder<Task, Result> {
   public:
    Holder() {
      set_request(&task_);
      set_response(&result_);
    }
    void Release() override { delete this; }

   private:
    Task task_;
    Result result_;
  };
  ::grpc::MessageHolder<Task, Result>* AllocateMessages() override { return new Holder; }
};

TEST(ServerTest, FindScopeIsNullForAUsersOwnMessageAllocator) {
  OwnAllocator allocator;
  Rig<> rig;
  rig.service.SetMessageAllocatorFor_Run(&allocator);
  Scope* found = reinterpret_cast<Scope*>(1);
  rig.service.on_run = [&](::grpc::CallbackServerContext* context, const Task*, Result*) {
    EXPECT_NE(context->GetRpcAllocatorState(), nullptr);
    found = FindScope(*context);
    return FinishNow();
  };
  rig.StartPlain();
  ASSERT_TRUE(rig.Run(MakeTask()).ok());
  EXPECT_EQ(found, nullptr);
}

using ServerDeathTest = ::testing::Test;

TEST(ServerDeathTest, ScopeOfWithoutAScopeSaysWhatToDo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        ::grpc::CallbackServerContext context;
        ScopeOf(context);
      },
      "this request has no scope.*wrapped by harena::grpc::Server");
}

TEST(ServerDeathTest, AnUnknownMethodInTheOptionsNamesTheKnownOnes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        HookedService service;
        Server scoped(service, ServerOptions{.methods = {{"/harena.test.Work/Rum", {}}}});
      },
      "no covered method is named \"/harena.test.Work/Rum\"; there are: /harena.test.Work/Run "
      "/harena.test.Work/Hold /harena.test.Work/Nested");
}

TEST(ServerDeathTest, WrongOptionsSayWhatIsWrong) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        HookedService service;
        Server scoped(service, {.mode = Mode::kHeap, .request_bytes_max = kMiB});
      },
      "mode heap cannot hold request_bytes_max");
}

TEST(ServerTest, StatsNameTheCoveredMethodsAndUncoveredTheOthers) {
  HookedService service;
  Server scoped(service);
  std::vector<std::string> names;
  for (const MethodStats& stats : scoped.stats()) names.push_back(stats.name);
  EXPECT_THAT(names, ::testing::ElementsAre(kRun, kHold, "/harena.test.Work/Nested"));
  EXPECT_EQ(scoped.uncovered().size(), 3u);
  EXPECT_THAT(ReasonOf(scoped, "/harena.test.Work/Pour"), HasSubstr("server streaming"));
  EXPECT_THAT(ReasonOf(scoped, "/harena.test.Work/Gather"), HasSubstr("client streaming"));
  EXPECT_THAT(ReasonOf(scoped, "/harena.test.Work/Chat"), HasSubstr("bidirectional streaming"));
}

class DerivedService : public HookedService {};
class DerivedTwiceService final : public DerivedService {};

TEST(ServerTest, WrapsAClassDerivedTwice) {
  Rig<DerivedTwiceService> rig;
  rig.Start(Mode::kPages);
  ASSERT_TRUE(rig.Run(MakeTask()).ok());
  EXPECT_EQ(rig.stats().scopes.scopes_made, 1u);
}

// The callback mixin of Run lies below another one, which decides how gRPC serves it.
template <template <typename> class Mixin>
class MixedService final : public Mixin<HookedService> {};

template <template <typename> class Mixin>
void ExpectRunIsLeftAlone() {
  MixedService<Mixin> service;
  Server scoped(service);
  EXPECT_THAT(ReasonOf(scoped, kRun), HasSubstr("With...Method_Run"));
  EXPECT_EQ(ReasonOf(scoped, kHold), "covered");
}

TEST(ServerTest, LeavesMethodsAloneThatAnotherMixinTookOver) {
  ExpectRunIsLeftAlone<test::Work::WithAsyncMethod_Run>();
  ExpectRunIsLeftAlone<test::Work::WithRawMethod_Run>();
  ExpectRunIsLeftAlone<test::Work::WithRawCallbackMethod_Run>();
  ExpectRunIsLeftAlone<test::Work::WithGenericMethod_Run>();
}

class RawRunService final : public test::Work::WithRawCallbackMethod_Run<HookedService> {
  ::grpc::ServerUnaryReactor* Run(::grpc::CallbackServerContext*, const ::grpc::ByteBuffer* request,
                                  ::grpc::ByteBuffer* response) override {
    *response = *request;
    return FinishNow();
  }
};

TEST(ServerTest, ARawMethodStaysRaw) {
  Rig<RawRunService> rig;
  rig.Start(Mode::kPages);
  std::string echo;
  ASSERT_TRUE(rig.RunRaw("not even a message", &echo).ok());
  EXPECT_EQ(echo, "not even a message");
}

class HalfSynchronous final : public test::Work::WithCallbackMethod_Run<test::Work::Service> {
  ::grpc::ServerUnaryReactor* Run(::grpc::CallbackServerContext*, const Task* task,
                                  Result* result) override {
    Answer(*task, result);
    return FinishNow();
  }
  ::grpc::Status Hold(::grpc::ServerContext*, const test::Holder*, test::Holder*) override {
    return ::grpc::Status::OK;
  }
};

TEST(ServerTest, WrapsTheCallbackMethodsOfAMixedService) {
  Rig<HalfSynchronous> rig;
  rig.Start(Mode::kPages);
  ASSERT_TRUE(rig.Run(MakeTask()).ok());
  ::grpc::ClientContext context;
  test::Holder holder;
  ASSERT_TRUE(rig.stub().Hold(&context, {}, &holder).ok());
  EXPECT_EQ(rig.stats().scopes.scopes_made, 1u);
  EXPECT_THAT(ReasonOf(rig.scoped(), kHold),
              AllOf(HasSubstr("synchronous"), HasSubstr("Work::CallbackService")));
}

class EchoService final : public test::Echo::CallbackService {
  ::grpc::ServerUnaryReactor* Echo(::grpc::CallbackServerContext* context, const Task* task,
                                   Result* result) override {
    EXPECT_NE(FindScope(*context), nullptr);
    result->set_text(task->text());
    return FinishNow();
  }
};

TEST(ServerTest, WrapsAMethodThatIsNamedAsItsService) {
  Rig<EchoService> rig;
  rig.Start(Mode::kPages);
  std::string answer;
  ASSERT_TRUE(rig.RunRaw(MakeTask().SerializeAsString(), &answer, "/harena.test.Echo/Echo").ok());
  Result result;
  ASSERT_TRUE(result.ParseFromString(answer));
  EXPECT_EQ(result.text(), MakeTask().text());
}

class StrictService final : public HarenaTestStrict::CallbackService {
  ::grpc::ServerUnaryReactor* Check(::grpc::CallbackServerContext*, const HarenaTestForm* form,
                                    HarenaTestForm* answer) override {
    *answer = *form;
    return FinishNow();
  }
};

TEST_P(ServerModes, AMissingRequiredFieldIsNamed) {
  constexpr char kCheck[] = "/HarenaTestStrict/Check";
  HarenaTestForm form;
  form.set_name("complete");
  Rig<StrictService> rig;
  rig.Start(GetParam());
  EXPECT_TRUE(rig.RunRaw(form.SerializeAsString(), nullptr, kCheck).ok());
  const ::grpc::Status status = rig.RunRaw(std::string(), nullptr, kCheck);
  EXPECT_EQ(status.error_code(), ::grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              testing::HasSubstr("the request is no valid HarenaTestForm; missing: name"));
  EXPECT_EQ(rig.stats(kCheck).malformed, 1u);
  rig.ExpectAllMemoryBack();
}

TEST(ServerTest, AServiceWithoutMethodsHasNothingToWrap) {
  HarenaTestIdle::CallbackService service;
  Server scoped(service);
  EXPECT_TRUE(scoped.stats().empty());
  EXPECT_TRUE(scoped.uncovered().empty());
}

std::vector<std::string>& LoggedSentences() {
  static auto& sentences = *new std::vector<std::string>;
  return sentences;
}

class LiteService final : public test::Lite::CallbackService {
  ::grpc::ServerUnaryReactor* Note(::grpc::CallbackServerContext* context,
                                   const test::LiteNote* request,
                                   test::LiteNote* response) override {
    EXPECT_NE(FindScope(*context), nullptr);
    response->set_text(request->text());
    return FinishNow();
  }
};

TEST(ServerTest, ReuseOfMessagesThatCannotBeKeptIsServedAsPagesAndSaysSoOnce) {
  if (!pb::DropsInClear(&test::Holder::mutable_task)) GTEST_SKIP() << "this protobuf keeps them";
  LoggedSentences().clear();
  SetLogSink([](Severity, std::string_view text) {
    if (text.rfind("self-check: ", 0) != 0) LoggedSentences().emplace_back(text);
  });
  {
    Rig<> rig;
    rig.Start(Mode::kReuse);
    // Only Hold's messages hold a sub-message that Clear() drops.
    ASSERT_EQ(LoggedSentences().size(), 1u);
    EXPECT_THAT(LoggedSentences()[0],
                AllOf(HasSubstr(kHold), HasSubstr("reuse is served as pages"),
                      HasSubstr("harena.test.Holder.task"), HasSubstr("`optional`")));
    for (int i = 0; i < 3; ++i) {
      ::grpc::ClientContext context;
      test::Holder holder, answer;
      holder.mutable_task()->set_text("kept");
      ASSERT_TRUE(rig.stub().Hold(&context, holder, &answer).ok());
      EXPECT_EQ(answer.task().text(), "held: kept");
    }
    EXPECT_EQ(rig.stats(kHold).mode, Mode::kReuse);
    EXPECT_EQ(rig.stats(kHold).served, Mode::kPages);
    EXPECT_EQ(rig.stats(kHold).kept.instances_built, 0u);
    EXPECT_EQ(rig.stats(kRun).served, Mode::kReuse);
    rig.ExpectAllMemoryBack();
    EXPECT_EQ(LoggedSentences().size(), 1u);
  }
  {
    Rig<LiteService> rig;
    rig.Start(Mode::kReuse);
    EXPECT_THAT(LoggedSentences().back(), HasSubstr("lite runtime"));
    test::LiteNote note;
    note.set_text("a lite message");
    std::string answer;
    ASSERT_TRUE(rig.RunRaw(note.SerializeAsString(), &answer, "/harena.test.Lite/Note").ok());
    EXPECT_EQ(answer, note.SerializeAsString());
    EXPECT_EQ(rig.stats("/harena.test.Lite/Note").served, Mode::kPages);
  }
  SetLogSink(nullptr);
}

TEST(ServerTest, OneMethodMayHaveItsOwnOptions) {
  Rig<> rig;
  rig.Start(ServerOptions{.defaults = {.mode = Mode::kArena},
                          .methods = {{kRun, {.mode = Mode::kPages, .request_bytes_max = kMiB}}}});
  EXPECT_EQ(rig.stats(kRun).mode, Mode::kPages);
  EXPECT_EQ(rig.stats(kHold).mode, Mode::kArena);
  EXPECT_EQ(rig.RunRaw(BombWire()).error_code(), ::grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(ServerTest, ChangesThatCannotBeAreRefusedWithTheReasonAndChangeNothing) {
  Rig<> rig;
  rig.Start(ServerOptions{.defaults = {.mode = Mode::kPages},
                          .methods = {{kHold, {.request_bytes_max = kMiB}}}});
  // Hold stands in the way, so Run stays as it is too.
  EXPECT_THAT(rig.scoped().SetMode(Mode::kHeap),
              Optional(AllOf(HasSubstr(kHold), HasSubstr("mode heap cannot hold"))));
  EXPECT_EQ(rig.stats(kRun).mode, Mode::kPages);
  EXPECT_THAT(rig.scoped().SetMode(kHold, Mode::kHeap), Optional(HasSubstr(kHold)));
  EXPECT_EQ(rig.scoped().SetMode(kRun, Mode::kHeap), std::nullopt);
  EXPECT_EQ(rig.stats(kRun).mode, Mode::kHeap);
  EXPECT_THAT(rig.scoped().SetRequestBytesMax(2 * kMiB),
              Optional(AllOf(HasSubstr(kRun), HasSubstr("mode heap cannot hold"))));
  EXPECT_THAT(rig.scoped().SetRequestBytesMax(kRun, 2 * kMiB), Optional(HasSubstr(kRun)));
  EXPECT_THAT(rig.scoped().SetMode("Run", Mode::kPages),
              Optional(AllOf(HasSubstr("\"Run\""), HasSubstr(kRun), HasSubstr(kHold))));
  EXPECT_THAT(rig.scoped().SetRequestBytesMax(kHold, 0), Optional(HasSubstr("refuse every")));
}

}  // namespace
}  // namespace harena::grpc
