// Every mode in a real tRPC server, over loopback.
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <trpc/client/make_client_context.h>
#include <trpc/coroutine/fiber.h>
#include <trpc/tvar/common/tvar_group.h>

#include "harena/adapters/trpc/test_services.h"
#include "harena/adapters/trpc/within_budget.h"

namespace harena::trpc {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::trpc::ClientContextPtr;

INSTANTIATE_TEST_SUITE_P(Served, EveryService,
                         ::testing::Values(kOwn, "heap", "arena", "pages", "reuse", "codec"),
                         [](const auto& info) { return info.param; });

TEST_P(EveryService, AnswersTheSameToEveryClient) {
  Inside([] {
    for (const Mode client : kModes) {
      for (const int items : {0, 20, 2000, 3}) {
        EXPECT_TRUE(AnswersAsExpected(GetParam(), MakeTask(items), client))
            << ToString(client) << ", " << items << " items";
      }
    }
  });
}

TEST_P(EveryService, JsonAndCompression) {
  Inside([] {
    const auto proxy = server().Proxy(GetParam());
    for (const auto encoding : {::trpc::serialization::kPbType, ::trpc::serialization::kJsonType}) {
      for (const auto compression :
           {::trpc::compressor::kNone, ::trpc::compressor::kSnappy, ::trpc::compressor::kGzip}) {
        const ClientContextPtr context = ::trpc::MakeClientContext(proxy);
        context->SetReqEncodeType(encoding);
        context->SetReqCompressType(compression);
        Call call = CallsOf(Mode::kCodec).Acquire();
        call.request() = MakeTask();
        const Status status = proxy->Run(context, call.request(), &call.response());
        EXPECT_TRUE(status.OK()) << status.ToString();
        EXPECT_TRUE(MessageDifferencer::Equals(call.response(), Expected(MakeTask())));
      }
    }
  });
}

TEST_P(EveryService, BodiesThatBecomeTooLong) {
  const bool own = GetParam() == kOwn;
  uint64_t refused = own ? 0 : served().services->stats().at(0).refused;
  // The bound is the client's, too.
  served().service->on_run = [](const ServerContextPtr&, const Task& task, Result& result) {
    result.set_number(static_cast<int64_t>(task.text().size()));
    return ::trpc::kSuccStatus;
  };
  Inside([&] {
    const auto proxy = server().Proxy(GetParam());
    for (const auto compression :
         {::trpc::compressor::kGzip, ::trpc::compressor::kZlib, ::trpc::compressor::kSnappy,
          ::trpc::compressor::kSnappyBlock, ::trpc::compressor::kLz4Frame}) {
      for (const size_t bytes : {kDecompressedBytesMax, 16 * kDecompressedBytesMax}) {
        Task task;
        task.set_text(std::string(bytes - 4, 'x'));  // and four of tag and length
        const ClientContextPtr context = ::trpc::MakeClientContext(proxy);
        context->SetReqCompressType(compression);
        Result result;
        const Status status = proxy->Run(context, task, &result);
        if (bytes == kDecompressedBytesMax) {
          EXPECT_TRUE(status.OK()) << status.ToString();
          EXPECT_EQ(result.number(), static_cast<int64_t>(task.text().size()));
          continue;
        }
        ++refused;
        EXPECT_EQ(status.GetFrameworkRetCode(), own ? ::trpc::TrpcRetCode::TRPC_SERVER_DECODE_ERR
                                                    : ::trpc::TrpcRetCode::TRPC_SERVER_LIMITED_ERR);
        EXPECT_THAT(status.ErrorMessage(), HasSubstr(own ? "" : "longer than 1048576 bytes"));
      }
    }
  });
  EXPECT_EQ(own ? refused : served().services->stats().at(0).refused, refused);
}

TEST_P(EveryService, ManyAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < 6; ++client) {
    clients.emplace_back([&, client] {
      Inside([&] {
        for (int round = 0; round < 40; ++round) {
          const Task task = MakeTask(client * 10 + round % 7);
          if (!AnswersAsExpected(GetParam(), task, kModes[round % 5])) ++wrong;
        }
      });
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(EveryService, RequestsThatAreNone) {
  RawClient client(port());
  ASSERT_TRUE(client.Send(RawClient::Frame(kRun, "\x0a\xff nothing of the kind")));
  EXPECT_EQ(client.NextCode(), ::trpc::TrpcRetCode::TRPC_SERVER_DECODE_ERR);
  const std::string whole = MakeTask(200).SerializeAsString();
  for (size_t end = 1; end < whole.size(); end += whole.size() / 50) {
    ASSERT_TRUE(client.Send(RawClient::Frame(kRun, whole.substr(0, end))));
    const int code = client.NextCode();
    EXPECT_TRUE(code == 0 || code == ::trpc::TrpcRetCode::TRPC_SERVER_DECODE_ERR) << code;
  }
  ASSERT_TRUE(client.Send(RawClient::Frame(kRun, whole)));
  EXPECT_EQ(client.NextCode(), 0);
}

// In the middle of a frame, and while the method runs.
TEST_P(EveryService, ClientsThatGoAway) {
  const std::string frame = RawClient::Frame(kRun, MakeTask(500).SerializeAsString());
  for (size_t end = 1; end < frame.size(); end += frame.size() / 20) {
    RawClient client(port());
    EXPECT_TRUE(client.Send(frame.substr(0, end)));
  }
  std::atomic<int> answered{0};
  served().service->on_run = [&](const ServerContextPtr&, const Task& task, Result& result) {
    std::this_thread::sleep_for(milliseconds(20));
    Answer(task, &result);
    ++answered;
    return ::trpc::kSuccStatus;
  };
  for (int i = 0; i < 10; ++i) {
    RawClient client(port());
    EXPECT_TRUE(client.Send(frame));
  }
  EXPECT_TRUE(Eventually([&] { return answered == 10; })) << answered;
}

// By a response of its own: the one that tRPC gave is dropped.
TEST_P(EveryService, AnswersLater) {
  served().service->on_run = [](const ServerContextPtr& context, const Task& task, Result& result) {
    context->SetResponse(false);
    Answer(task, &result);
    std::thread([context, own = result]() mutable {
      std::this_thread::sleep_for(milliseconds(5));
      context->SendUnaryResponse(::trpc::kSuccStatus, own);
    }).detach();
    return ::trpc::kSuccStatus;
  };
  Inside([] {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(AnswersAsExpected(GetParam(), MakeTask(50)));
  });
}

TEST_P(EveryService, FailsAsTheMethodSays) {
  served().service->on_run = [](const ServerContextPtr&, const Task&, Result&) {
    return Status(7, "no");
  };
  Inside([] {
    const auto proxy = server().Proxy(GetParam());
    Result result;
    const Status status = proxy->Run(::trpc::MakeClientContext(proxy), MakeTask(), &result);
    EXPECT_EQ(status.GetFuncRetCode(), 7);
    EXPECT_EQ(status.ErrorMessage(), "no");
  });
}

TEST_P(EveryService, PacketsAboveTheLimit) {
  Inside([] {
    const auto proxy = server().Proxy(GetParam());
    Task task;
    task.set_text(std::string(TestServer::kPacketBytesMax + 1, 'x'));
    Result result;
    EXPECT_FALSE(proxy->Run(::trpc::MakeClientContext(proxy), task, &result).OK());
    EXPECT_TRUE(AnswersAsExpected(GetParam(), MakeTask()));
  });
}

class EveryMode : public ServerTest, public ::testing::WithParamInterface<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, EveryMode, ::testing::ValuesIn(kModes),
                         [](const auto& info) { return NameOf(info.param); });

// By the response that tRPC gave, which its own handlers then never free.
TEST_P(EveryMode, AnswersLaterByWhatWasGiven) {
  Served& served = Of(NameOf(GetParam()));
  served.service->on_run = [](const ServerContextPtr& context, const Task& task, Result& result) {
    context->SetResponse(false);
    Answer(task, &result);
    std::thread([context, &result] {
      std::this_thread::sleep_for(milliseconds(5));
      context->SendUnaryResponse(::trpc::kSuccStatus, result);
    }).detach();
    return ::trpc::kSuccStatus;
  };
  Inside([] {
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(AnswersAsExpected(NameOf(GetParam()), MakeTask(50)));
    }
  });
  EXPECT_TRUE(Eventually([&] { return served.services->stats().at(0).scopes.scopes_live() == 0; }));
}

class Limits : public ServerTest, public ::testing::WithParamInterface<Mode> {
 protected:
  void SetUp() override {
    ASSERT_EQ(Of(kLimited).services->SetMode(GetParam()), std::nullopt);
    refused_ = refused();
  }
  ~Limits() override { EXPECT_EQ(refused(), refused_ + 1); }

  static uint64_t refused() { return Of(kLimited).services->stats().at(0).refused; }
  static Status Invoke(const Task& task) {
    const auto proxy = server().Proxy(kLimited);
    Result result;
    return proxy->Run(::trpc::MakeClientContext(proxy), task, &result);
  }
  static void ExpectRefused(const Status& status) {
    EXPECT_EQ(status.GetFrameworkRetCode(), ::trpc::TrpcRetCode::TRPC_SERVER_LIMITED_ERR);
    EXPECT_THAT(status.ErrorMessage(), HasSubstr("request_bytes_max"));
  }

 private:
  uint64_t refused_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Modes, Limits, ::testing::Values(Mode::kArena, Mode::kPages, Mode::kCodec),
                         [](const auto& info) { return NameOf(info.param); });

TEST_P(Limits, EndARequestThatTakesTooMuch) {
  Inside([] {
    Task task;
    for (int i = 0; i < 30'000; ++i) task.add_items();
    ExpectRefused(Invoke(task));
    EXPECT_TRUE(Invoke(MakeTask()).OK());
  });
}

TEST_P(Limits, EndAMethodThatTakesTooMuch) {
  Of(kLimited).service->on_run = [](const ServerContextPtr& context, const Task&, Result& result) {
    WithinBudget(*context, [&] {
      for (int i = 0; i < 100'000; ++i) result.add_items()->add_scores(i);
    });
    return ::trpc::kSuccStatus;
  };
  Inside([] { ExpectRefused(Invoke(MakeTask())); });
}

// The limit goes with the fiber: it holds after a wait, and for nobody else on the thread.
TEST_P(Limits, EndAMethodThatWaitsFirst) {
  Of(kLimited).service->on_run = [](const ServerContextPtr& context, const Task& task,
                                    Result& result) {
    const int waits = task.number() == 0 ? 1 : 200;
    WithinBudget(*context, [&] {
      for (int i = 0; i < waits; ++i) {
        ::trpc::FiberSleepFor(milliseconds(1));
        result.add_items();
      }
      if (task.number() != 0) return;
      for (int i = 0; i < 100'000; ++i) result.add_items()->add_scores(i);
    });
    return ::trpc::kSuccStatus;
  };
  // Of these, nobody says that they are held to anything.
  Of("pages").service->on_run = [](const ServerContextPtr&, const Task& task, Result& result) {
    for (int i = 0; i < 20'000; ++i) result.add_items()->add_scores(i);
    result.clear_items();
    Answer(task, &result);
    return ::trpc::kSuccStatus;
  };
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      Inside([&] {
        if (client % 2 == 0) {
          wrong += !Invoke(MakeTask()).OK();
          over = true;
        }
        while (!over) wrong += !AnswersAsExpected("pages", MakeTask());
      });
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
  Task task = MakeTask();
  task.set_number(0);
  Inside([&] { ExpectRefused(Invoke(task)); });
}

TEST_F(ServerTest, ModesChangeUnderLoad) {
  Services& services = *Of("pages").services;
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < 3; ++client) {
    clients.emplace_back([&, client] {
      Inside([&] {
        while (!over) wrong += !AnswersAsExpected("pages", MakeTask(client * 30));
      });
    });
  }
  for (int round = 0; round < 60; ++round) {
    EXPECT_EQ(services.SetMode(kModes[round % 5]), std::nullopt);
    std::this_thread::sleep_for(milliseconds(20));
  }
  over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(services.SetMode(Mode::kPages), std::nullopt);
}

TEST_F(ServerTest, ShowsWhatItCounts) {
  const auto value = [](const std::string& path) {
    const auto shown = ::trpc::tvar::TrpcVarGroup::TryGet("/harena/" + path);
    EXPECT_TRUE(shown.has_value()) << path;
    return shown ? shown->asUInt64() : 0;
  };
  const std::string method = std::string("methods") + kRun;
  const uint64_t requests = value(method + "/requests");
  const uint64_t malformed = value(method + "/malformed");
  const uint64_t blocks = value("pages/blocks_allocated");
  Inside([] { EXPECT_TRUE(AnswersAsExpected("codec", MakeTask())); });
  RawClient client(server().port("codec"));
  ASSERT_TRUE(client.Send(RawClient::Frame(kRun, "\x0a\xff nothing of the kind")));
  EXPECT_EQ(client.NextCode(), ::trpc::TrpcRetCode::TRPC_SERVER_DECODE_ERR);
  EXPECT_EQ(value(method + "/requests"), requests + 2);
  EXPECT_EQ(value(method + "/malformed"), malformed + 1);
  EXPECT_GT(value("pages/blocks_allocated"), blocks);
  EXPECT_EQ(value(method + "/refused"), 0u);
}

}  // namespace
}  // namespace harena::trpc
