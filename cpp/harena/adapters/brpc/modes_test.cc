// Where the messages of a request live, per mode and method, and changes while running.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>

#include "harena/adapters/brpc/test_rig.h"
#include "harena/pb/arena/message.h"

namespace harena::brpc {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

class Modes : public ModeTest {};
INSTANTIATE_TEST_SUITE_P(All, Modes, ::testing::ValuesIn(kModes), ModeName);

TEST_P(Modes, TheHandlerFindsItsScope) {
  Rig rig;
  rig.Start(GetParam());
  bool seen = false;
  rig.service.on_run = [&](Controller*, const Task* task, Result* result, Closure* done) {
    Scope& scope = ScopeOf(*result);
    EXPECT_EQ(&scope, FindScope(*result));
    EXPECT_EQ(scope.mode(), GetParam());
    auto* numbers = scope.Create<std::pmr::vector<int>>(100, 7, scope.resource());
    EXPECT_EQ(numbers->size(), 100u);
    scope.CreateMessage<Result>()->set_text("a further message, of no use");
    Result elsewhere;
    EXPECT_EQ(FindScope(elsewhere), nullptr);
    EXPECT_EQ(FindScope(*task), nullptr) << "the response is what names the request";
    Answer(*task, result);
    done->Run();
    EXPECT_EQ(FindScope(*result), nullptr);
    seen = true;
  };
  EXPECT_EQ(rig.Run(MakeTask()), 0);
  EXPECT_TRUE(Eventually([&] { return seen; }));
  rig.ExpectAllMemoryBack();
}

TEST_P(Modes, MessagesLiveWhereTheModeSays) {
  Rig rig;
  rig.Start(GetParam());
  rig.service.on_run = [&](Controller*, const Task* task, Result* result, Closure* done) {
    const bool on_heap = GetParam() == Mode::kHeap;
    EXPECT_EQ(task->GetArena() == nullptr, on_heap);
    EXPECT_EQ(task->GetArena(), result->GetArena());
    const bool in_pages = PagePool::OwnerOf(&task->items(0)) == &rig.pool();
    EXPECT_EQ(in_pages, GetParam() == Mode::kPages || GetParam() == Mode::kReuse ||
                            GetParam() == Mode::kCodec);
    // The codec's requests have their strings in pages too: brpc's parse was a frozen one.
    const bool strings_in_pages = PagePool::OwnerOf(task->text().data()) == &rig.pool();
    EXPECT_EQ(strings_in_pages, GetParam() == Mode::kCodec);
    Answer(*task, result);
    done->Run();
  };
  EXPECT_EQ(rig.Run(MakeTask()), 0);
  rig.ExpectAllMemoryBack();  // the first one's pair is kept before the second asks for it
  EXPECT_EQ(rig.Run(MakeTask()), 0);
  EXPECT_EQ(rig.stats().kept.instances_built, GetParam() == Mode::kReuse ? 1u : 0u);
}

// What was filled by reflection is an ordinary message, in every mode.
TEST_P(Modes, JsonFillsOrdinaryStrings) {
  Rig rig;
  rig.Start(GetParam());
  rig.service.on_run = [&](Controller*, const Task* task, Result* result, Closure* done) {
    EXPECT_EQ(PagePool::OwnerOf(task->text().data()), nullptr);
    Answer(*task, result);
    done->Run();
  };
  EXPECT_THAT(
      rig.Http("/harena.test.brpc.Work/Run", R"({"text": "longer than a short string is"})"),
      HasSubstr("re: longer than a short string is"));
}

TEST(PerMethod, EachItsOwn) {
  Rig rig;
  rig.Start(FactoryOptions{.defaults = {.mode = Mode::kPages},
                           .methods = {{kRun, {.mode = Mode::kReuse}}}});
  rig.service.on_run = [](Controller*, const Task*, Result* result, Closure* done) {
    EXPECT_EQ(ScopeOf(*result).mode(), Mode::kReuse);
    done->Run();
  };
  EXPECT_EQ(rig.Run(MakeTask()), 0);
  EXPECT_EQ(rig.stats().mode, Mode::kReuse);
  // Named as yet, without a request.
  EXPECT_EQ(rig.factory().SetMode(kHold, Mode::kArena), std::nullopt);
  EXPECT_EQ(rig.stats(kHold).mode, Mode::kArena);
  EXPECT_EQ(rig.stats(kHold).requests, 0u);
  // Clear() would drop its sub-message.
  EXPECT_EQ(rig.factory().SetMode(kHold, Mode::kReuse), std::nullopt);
  EXPECT_EQ(rig.stats(kHold).served, Mode::kPages);
  EXPECT_THAT(rig.factory().SetMode("harena.test.brpc.Work.Rum", Mode::kHeap),
              Optional(HasSubstr("no covered method is named")));
}

TEST(ModeSwitch, ForMethodsYetToCome) {
  Rig rig;
  rig.Start(Mode::kHeap);
  EXPECT_EQ(rig.factory().SetMode(Mode::kArena), std::nullopt);
  EXPECT_EQ(rig.Run(MakeTask()), 0);
  EXPECT_EQ(rig.stats().mode, Mode::kArena);
}

TEST(ModeSwitch, WhatCannotBeIsRefusedAndChangesNothing) {
  Rig rig;
  rig.Start(Options{.mode = Mode::kPages, .request_bytes_max = 4 * kMiB});
  EXPECT_EQ(rig.Run(MakeTask()), 0);
  EXPECT_THAT(rig.factory().SetMode(Mode::kReuse), Optional(HasSubstr("mode reuse cannot hold")));
  EXPECT_THAT(rig.factory().SetMode(Mode::kHeap), Optional(HasSubstr("mode heap cannot hold")));
  EXPECT_THAT(rig.factory().SetMode(kRun, Mode::kReuse),
              Optional(HasSubstr("mode reuse cannot hold")));
  EXPECT_THAT(rig.factory().SetRequestBytesMax(1), Optional(HasSubstr("less than one page")));
  EXPECT_EQ(rig.stats().mode, Mode::kPages);
  EXPECT_EQ(rig.factory().SetRequestBytesMax(kUnlimitedBytes), std::nullopt);
  EXPECT_EQ(rig.factory().SetMode(Mode::kReuse), std::nullopt);
}

TEST(ModeSwitch, UnderLoadFromManyThreads) {
  Rig rig;
  rig.Start(Mode::kHeap);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::atomic<int> right{0};
  std::vector<std::thread> clients;
  for (const char* protocol : {"baidu_std", "baidu_std", "h2:grpc", "http"}) {
    clients.emplace_back([&, protocol] {
      const auto channel = rig.Connect(protocol);
      test::brpc::Work::Stub stub(channel.get());
      for (int round = 0; !stop; ++round) {
        const Task task = MakeTask(round % 50);
        Controller controller;
        Result result;
        stub.Run(&controller, &task, &result, nullptr);
        const bool ok = !controller.Failed() &&
                        google::protobuf::util::MessageDifferencer::Equals(result, Expected(task));
        (ok ? right : wrong).fetch_add(1);
      }
    });
  }
  int switches = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (std::chrono::steady_clock::now() < end || right < 500) {
    EXPECT_EQ(rig.factory().SetMode(kModes[switches++ % std::size(kModes)]), std::nullopt);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  stop = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(right, 500);
  rig.ExpectAllMemoryBack();
  EXPECT_EQ(rig.stats().scopes.scopes_refused, 0u);
}

TEST(MessageFactoryDeathTest, ImpossibleSettingsStopTheStart) {
  EXPECT_DEATH(MessageFactory(Options{.mode = Mode::kHeap, .request_bytes_max = kMiB}),
               "defaults: mode heap cannot hold request_bytes_max");
  EXPECT_DEATH(MessageFactory(Options{.mode = Mode::kReuse, .request_bytes_max = kMiB}),
               "defaults: mode reuse cannot hold request_bytes_max under brpc");
  EXPECT_DEATH(
      MessageFactory(FactoryOptions{.methods = {{"harena.test.brpc.Work.Rum", Options()}}}),
      "no linked service has a method \"harena.test.brpc.Work.Rum\"");
  EXPECT_DEATH(MessageFactory(FactoryOptions{.methods = {{kRun, {.request_bytes_max = 1}}}}),
               "harena.test.brpc.Work.Run: request_bytes_max is 1, less than one page");
}

TEST(ScopeOfDeathTest, SaysWhatItWants) {
  Result result;
  EXPECT_DEATH(ScopeOf(result), "ScopeOf: this response has no scope");
}

}  // namespace
}  // namespace harena::brpc
