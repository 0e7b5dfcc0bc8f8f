// What clients may throw at the listener: the inputs of testdata/live/hostile.json, which Go's
// tests read as well, and clients that hold, cut off or flood connections. The page has to answer
// at once afterwards.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harena/live/internal/http_server.h"
#include "harena/live/listener.h"
#include "harena/live/test_client.h"
#include "harena/live/test_server.h"

namespace harena::live {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

// Long before anybody's time is up, also on a busy machine.
constexpr std::chrono::seconds kAtOnce{10};
constexpr char kHalf[] = "GET /harena HTTP/1.1\r\nHost: loc";

struct HostileInput {
  std::string name;
  std::string bytes;
  std::vector<std::vector<int>> answers;
  std::string says;
};

/// Each character is a byte.
std::string Bytes(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    bytes +=
        byte < 0x80
            ? text[i]
            : static_cast<char>((byte & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 63));
  }
  return bytes;
}

std::vector<HostileInput> HostileInputs() {
  std::ifstream file(HARENA_HOSTILE_FILE);
  std::vector<HostileInput> inputs;
  for (const json& entry : json::parse(file)) {
    HostileInput input{.name = entry["name"],
                       .bytes = {},
                       .answers = entry["answers"],
                       .says = entry.value("says", std::string())};
    for (const json& part : entry["send"]) {
      const std::string bytes = Bytes(part["text"]);
      for (int i = part.value("times", 1); i > 0; --i) input.bytes += bytes;
    }
    inputs.push_back(std::move(input));
  }
  EXPECT_GT(inputs.size(), 60u);
  return inputs;
}

/// The codes of the answers, one after the other; {0} when there is none.
std::vector<int> CodesIn(const std::string& answers) {
  static const std::regex kStatusLine("HTTP/1\\.[01] ([0-9]{3})");
  std::vector<int> codes;
  for (std::sregex_iterator i(answers.begin(), answers.end(), kStatusLine), end; i != end; ++i) {
    codes.push_back(std::stoi((*i)[1]));
  }
  return codes.empty() ? std::vector<int>{0} : codes;
}

void ExpectAnswersAtOnce(const std::string& address) {
  const auto begin = Clock::now();
  EXPECT_THAT(Talk(address, Request("GET /harena")), StartsWith("HTTP/1.1 200"));
  EXPECT_LT(Clock::now() - begin, kAtOnce);
}

/// A listener on a port that the system gives to no outgoing connection: not to those that try to
/// reach it while it is away, either.
std::unique_ptr<Listener> ListenOutsideOfOutgoing() {
  int outgoing = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> outgoing;
  std::mt19937 random(std::random_device{}());
  for (int i = 0; i < 100; ++i) {
    const int port = std::uniform_int_distribution<int>(outgoing - 12'000, outgoing - 1)(random);
    auto listener = std::make_unique<Listener>(
        ListenerOptions{.address = "127.0.0.1:" + std::to_string(port), .token = kTestToken});
    if (listener->problem() == std::nullopt) return listener;
  }
  return nullptr;
}

class HostileTest : public ::testing::Test {
 protected:
  const TestServer server_;
  std::unique_ptr<Listener> listener_ =
      std::make_unique<Listener>(ListenerOptions{.address = "127.0.0.1:0", .token = kTestToken});
  const std::string address_ = listener_->address();
};

TEST_F(HostileTest, EveryInputIsAnsweredAsItShould) {
  for (const HostileInput& input : HostileInputs()) {
    SCOPED_TRACE(input.name);
    const auto begin = Clock::now();
    const TestConnection connection(address_);
    ASSERT_GE(connection.file(), 0);
    connection.Send(input.bytes);
    connection.Finish();
    const std::string answer = connection.Receive();
    EXPECT_LT(Clock::now() - begin, kAtOnce);
    const std::vector<int> codes = CodesIn(answer);
    ASSERT_EQ(codes.size(), input.answers.size()) << answer;
    for (size_t i = 0; i < codes.size(); ++i) {
      EXPECT_THAT(input.answers[i], ::testing::Contains(codes[i])) << i << ": " << answer;
    }
    EXPECT_THAT(answer, HasSubstr(input.says));
  }
  ExpectAnswersAtOnce(address_);
  EXPECT_EQ(server_.rank().scopes().options().depth_max, 0);
}

TEST_F(HostileTest, WhoHangsUpAnywhereIsSurvived) {
  std::mt19937 random(4711);
  for (const HostileInput& input : HostileInputs()) {
    SCOPED_TRACE(input.name);
    for (int round = 0; round < 8; ++round) {
      TestConnection connection(address_);
      ASSERT_GE(connection.file(), 0);
      const size_t cut = round == 0 ? input.bytes.size() : random() % (input.bytes.size() + 1);
      connection.Send(input.bytes.substr(0, cut));
      if (round % 2 == 1) connection.Reset();
    }
    ExpectAnswersAtOnce(address_);
  }
}

TEST_F(HostileTest, AFloodThatHangsUpLeavesItAnswering) {
  constexpr int kConnections = 500;
  std::vector<std::thread> attackers;
  for (const std::string& bytes : {std::string("\r\n\r\n\r\n"), std::string(kHalf),
                                   Request("GET /harena"), std::string(300'000, 'A')}) {
    attackers.emplace_back([this, bytes] {
      for (int i = 0; i < kConnections; ++i) TestConnection(address_).Send(bytes);
    });
  }
  for (std::thread& attacker : attackers) attacker.join();
  ExpectAnswersAtOnce(address_);
}

TEST_F(HostileTest, ClientsThatHoldConnectionsKeepNobodyOut) {
  const internal::HttpBounds bounds;
  std::vector<TestConnection> held;
  const auto begin = Clock::now();
  for (size_t i = 0; i < 2 * bounds.connections_max; ++i) {
    held.emplace_back(address_).Send(i % 2 == 0 ? kHalf : "");
  }
  ExpectAnswersAtOnce(address_);
  // Those that have been waited for longest had to go, long before their time was up.
  EXPECT_EQ(held.front().Receive(), "");
  EXPECT_LT(Clock::now() - begin, bounds.request_max / 2);
  EXPECT_TRUE(held.back().Send("\r\n"));
}

TEST_F(HostileTest, ClientsThatReadNothingKeepNobodyOut) {
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "GET /harena/app.js HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::vector<TestConnection> held;
  for (int i = 0; i < 8; ++i) held.emplace_back(address_).Send(many);
  ExpectAnswersAtOnce(address_);
}

TEST_F(HostileTest, EndsAtOnceWhileClientsHang) {
  const std::string large = "POST /harena/api/undo HTTP/1.1\r\nHost: localhost\r\n" + kAuthorized;
  const std::vector<std::string> starts = {"",
                                           kHalf,
                                           large + "Content-Length: 1000\r\n\r\n{",
                                           large + "Content-Length: 1000000\r\n\r\n{",
                                           large + "Transfer-Encoding: chunked\r\n\r\n4\r\n{",
                                           "GET /harena HTTP/1.1\r\nHost: a\r\n\r\n"};
  std::vector<TestConnection> held;
  for (size_t i = 0; i < 60; ++i) held.emplace_back(address_).Send(starts[i % starts.size()]);
  ExpectAnswersAtOnce(address_);
  const auto begin = Clock::now();
  listener_.reset();
  EXPECT_LT(Clock::now() - begin, kAtOnce);
  EXPECT_LT(TestConnection(address_).file(), 0);
}

TEST_F(HostileTest, ItEndsInTheMidstOfAFlood) {
  std::atomic<bool> end{false};
  listener_ = ListenOutsideOfOutgoing();
  ASSERT_NE(listener_, nullptr);
  const std::string address = listener_->address();
  std::vector<std::thread> attackers;
  for (int i = 0; i < 2; ++i) {
    attackers.emplace_back([&] {
      while (!end) TestConnection(address).Send(Request("GET /harena/api/status"));
    });
  }
  for (int round = 0; round < 20; ++round) {
    listener_.reset();
    listener_ =
        std::make_unique<Listener>(ListenerOptions{.address = address, .token = kTestToken});
    EXPECT_EQ(listener_->problem(), std::nullopt);
    ExpectAnswersAtOnce(address);
  }
  end = true;
  for (std::thread& attacker : attackers) attacker.join();
}

/// With bounds of its own, and no listener around it.
class BoundsTest : public ::testing::Test {
 protected:
  std::string problem_;
  internal::Handler handler_{internal::Guard(kTestToken, {})};
  internal::HttpServer server_{*internal::Resolve("127.0.0.1:0", &problem_),
                               handler_,
                               {.request_max = std::chrono::milliseconds(300),
                                .answer_max = std::chrono::milliseconds(300),
                                .linger_max = std::chrono::milliseconds(300)}};
};

TEST_F(BoundsTest, ARequestHasToEndHoweverFastItsBytesCome) {
  const TestConnection connection(server_.address());
  ASSERT_TRUE(connection.Send("GET /harena HTTP/1.1\r\nX: "));
  const auto begin = Clock::now();
  while (connection.Send("a") && Clock::now() - begin < std::chrono::seconds(20)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(BoundsTest, WhoAsksNothingMoreOrDoesNotGoIsClosed) {
  const TestConnection idle(server_.address());
  ASSERT_TRUE(idle.Send("GET /harena HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const TestConnection staying(server_.address());
  ASSERT_TRUE(staying.Send(Request("GET /harena")));
  EXPECT_THAT(idle.Receive(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(staying.Receive(), StartsWith("HTTP/1.1 200"));
}

TEST_F(BoundsTest, WhoDoesNotReadIsClosed) {
  const TestConnection connection(server_.address());
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "GET /harena/app.js HTTP/1.1\r\nHost: localhost\r\n\r\n";
  connection.Send(many);
  std::this_thread::sleep_for(std::chrono::milliseconds(900));
  EXPECT_LT(CodesIn(connection.Receive()).size(), 2000u);
}

}  // namespace
}  // namespace harena::live
