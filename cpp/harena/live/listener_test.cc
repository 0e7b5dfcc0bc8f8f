// The listener over real sockets.
#include "harena/live/listener.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harena/live/internal/handler.h"
#include "harena/live/test_client.h"
#include "harena/live/test_server.h"

namespace harena::live {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kDepth[] = R"({"method": "/test.Live/Rank", "settings": {"depth_max": 7}})";

TEST(ListenerTest, ServesThePageItsFilesAndTheStatus) {
  const TestServer server;
  const Listener listener({.address = "127.0.0.1:0"});
  ASSERT_EQ(listener.problem(), std::nullopt);
  EXPECT_THAT(listener.address(), StartsWith("127.0.0.1:"));
  const std::string page = Talk(listener.address(), Request("GET /harena"));
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(page, HasSubstr("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self';"));
  EXPECT_THAT(page, HasSubstr("X-Content-Type-Options: nosniff"));
  EXPECT_THAT(page, Not(HasSubstr("Access-Control")));
  const std::string status = Talk(listener.address(), Request("GET /harena/api/status"));
  EXPECT_THAT(status, HasSubstr(R"("language":"c++")"));
  EXPECT_THAT(status, HasSubstr("/test.Live/Rank"));
  EXPECT_THAT(Talk(listener.address(), Request("GET /harena/api/timeline?after_ms=x")),
              StartsWith("HTTP/1.1 400"));
  const std::string head = Talk(listener.address(), Request("HEAD /harena"));
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(head, Not(HasSubstr("<!doctype")));
}

TEST(ListenerTest, ChangesWithTheTokenAlone) {
  const TestServer server;
  const Listener listener({.address = "127.0.0.1:0", .token = kTestToken});
  ASSERT_EQ(listener.problem(), std::nullopt);
  const std::string line = "POST /harena/api/settings";
  EXPECT_THAT(Talk(listener.address(), Request(line, "Content-Type: application/json\r\n", kDepth)),
              StartsWith("HTTP/1.1 401"));
  EXPECT_EQ(server.rank().scopes().options().depth_max, 0);
  EXPECT_THAT(Talk(listener.address(), Request(line, kAuthorized, kDepth)),
              StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(server.rank().scopes().options().depth_max, 7);
  const std::string evil =
      "GET /harena/api/status HTTP/1.1\r\nHost: evil.example\r\n"
      "Connection: close\r\n\r\n";
  EXPECT_THAT(Talk(listener.address(), evil), StartsWith("HTTP/1.1 421"));
}

TEST(ListenerTest, BodiesAreBounded) {
  const TestServer server;
  const Listener listener({.address = "127.0.0.1:0", .token = kTestToken});
  const std::string body = std::string(4 * internal::kBufferBytesMax, ' ') + kDepth;
  EXPECT_THAT(Talk(listener.address(), Request("POST /harena/api/settings", kAuthorized, body)),
              StartsWith("HTTP/1.1 413"));
  EXPECT_EQ(server.rank().scopes().options().depth_max, 0);
}

TEST(ListenerTest, IsForThisMachineUnlessThereIsAToken) {
  unsetenv("HARENA_LIVE_TOKEN");
  for (const char* address : {":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0"}) {
    const Listener listener({.address = address});
    EXPECT_THAT(listener.problem().value_or(""), HasSubstr("needs a token")) << address;
    EXPECT_EQ(listener.address(), "");
  }
  EXPECT_EQ(Listener({.address = "0.0.0.0:0", .token = kTestToken}).problem(), std::nullopt);
  EXPECT_THAT(Listener({.address = "nowhere"}).problem().value_or(""), HasSubstr("127.0.0.1:9090"));
  EXPECT_THAT(Listener({.address = "127.0.0.1:http"}).problem().value_or(""),
              HasSubstr("127.0.0.1:9090"));
  EXPECT_THAT(Listener({.address = "127.0.0.1:0", .token = "short"}).problem().value_or(""),
              HasSubstr("want 16"));
}

TEST(ListenerTest, TakesTheTokenOfTheEnvironment) {
  setenv("HARENA_LIVE_TOKEN", kTestToken, 1);
  const TestServer server;
  const Listener listener({.address = "127.0.0.1:0"});
  unsetenv("HARENA_LIVE_TOKEN");
  EXPECT_THAT(Talk(listener.address(), Request("POST /harena/api/settings", kAuthorized, kDepth)),
              StartsWith("HTTP/1.1 200"));
}

TEST(ListenerTest, SaysThatAnAddressIsTaken) {
  const Listener first({.address = "127.0.0.1:0"});
  const Listener second({.address = first.address()});
  EXPECT_THAT(second.problem().value_or(""), HasSubstr("cannot listen on " + first.address()));
  EXPECT_THAT(second.problem().value_or(""), HasSubstr("in use"));
}

TEST(ListenerTest, EndsWithConnectionsOpen) {
  auto listener = std::make_unique<Listener>(ListenerOptions{.address = "127.0.0.1:0"});
  const TestConnection connection(listener->address());
  ASSERT_TRUE(connection.Send("GET /har"));
  listener.reset();
  EXPECT_EQ(connection.Receive(), "");
}

TEST(ListenerTest, ServersComeAndGoWhileManyAsk) {
  const Listener listener({.address = "127.0.0.1:0", .token = kTestToken});
  std::atomic<bool> end{false};
  std::atomic<int> answered{0};
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i) {
    askers.emplace_back([&, i] {
      while (!end) {
        const std::string answer =
            i == 0 ? Talk(listener.address(), Request("POST /harena/api/settings", kAuthorized,
                                                      R"({"settings": {"depth_max": 9}})"))
                   : Talk(listener.address(), Request("GET /harena/api/status"));
        if (answer.starts_with("HTTP/1.1 200")) ++answered;
      }
    });
  }
  for (int round = 0; round < 30; ++round) {
    const TestServer server;
    for (int i = 0; i < 50; ++i) {
      const Scope scope = server.rank().scopes().Acquire();
      server.rank().CountRequest();
    }
  }
  while (answered < 30) std::this_thread::yield();
  end = true;
  for (std::thread& asker : askers) asker.join();
  EXPECT_GE(answered, 30);
}

}  // namespace
}  // namespace harena::live
