#include "harena/live/internal/guard.h"

#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace harena::live::internal {
namespace {

constexpr char kToken[] = "a-token-of-the-tests";

unsigned StatusOf(const std::optional<HttpRefusal>& refusal) {
  return refusal ? refusal->status : 200;
}

Caller CallerWith(std::string_view authorization,
                  std::string_view content_type = "application/json") {
  return {.host = "127.0.0.1:9090",
          .authorization = authorization,
          .content_type = content_type,
          .on_this_machine = true};
}

TEST(GuardTest, ChangesNeedTheToken) {
  const Guard guard(kToken, {});
  const std::string right = std::string("Bearer ") + kToken;
  EXPECT_EQ(StatusOf(guard.CheckWrite(CallerWith(right))), 200u);
  EXPECT_EQ(StatusOf(guard.CheckWrite(CallerWith(right, "application/json; charset=utf-8"))), 200u);
  EXPECT_EQ(StatusOf(guard.CheckWrite(CallerWith(right, "text/plain"))), 415u);
  for (const std::string& wrong :
       {std::string(), std::string("Bearer "), std::string(kToken), right + "x",
        right.substr(0, right.size() - 1), right + kToken, std::string("Basic ") + kToken,
        std::string("Bearer b-token-of-the-tests")}) {
    EXPECT_EQ(StatusOf(guard.CheckWrite(CallerWith(wrong))), 401u) << wrong;
  }
}

TEST(GuardTest, TheTokensSchemeMayBeInAnyCase) {
  const Guard guard(kToken, {});
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER ", "bEaReR "}) {
    EXPECT_EQ(StatusOf(guard.CheckWrite(CallerWith(std::string(scheme) + kToken))), 200u) << scheme;
  }
  for (const char* scheme : {"Bearers ", "Beare ", "bearer", "bearer  "}) {
    EXPECT_EQ(StatusOf(guard.CheckWrite(CallerWith(std::string(scheme) + kToken))), 401u) << scheme;
  }
}

TEST(GuardTest, PagesOfOtherSitesChangeNothing) {
  const Guard guard(kToken, {});
  const std::string right = std::string("Bearer ") + kToken;
  const auto status = [&](std::string_view fetch_site, std::string_view origin) {
    Caller caller = CallerWith(right);
    caller.origin = origin;
    caller.fetch_site = fetch_site;
    return StatusOf(guard.CheckWrite(caller));
  };
  EXPECT_EQ(status("", ""), 200u);
  EXPECT_EQ(status("", "http://127.0.0.1:9090"), 200u);
  EXPECT_EQ(status("", "https://127.0.0.1:9090"), 200u);
  EXPECT_EQ(status("same-origin", "https://metrics.example"), 200u);
  EXPECT_EQ(status("none", ""), 200u);
  for (const char* origin : {"http://evil.example", "http://127.0.0.1", "http://127.0.0.1:8080",
                             "null", "127.0.0.1:9090", "http://"}) {
    EXPECT_EQ(status("", origin), 403u) << origin;
  }
  EXPECT_EQ(status("cross-site", "http://127.0.0.1:9090"), 403u);
  EXPECT_EQ(status("same-site", ""), 403u);
  EXPECT_EQ(status("anything", ""), 403u);
}

TEST(GuardTest, NothingCanBeChangedWithoutAToken) {
  const Guard guard("", {});
  EXPECT_FALSE(guard.writable());
  for (const char* given : {"", "Bearer ", "Bearer x"}) {
    EXPECT_EQ(StatusOf(guard.CheckWrite(CallerWith(given))), 403u) << given;
  }
}

TEST(GuardTest, OtherMachinesNeedTheTokenToSeeAnything) {
  Caller far = CallerWith("");
  far.on_this_machine = false;
  EXPECT_EQ(StatusOf(Guard("", {}).CheckRead(far)), 403u);
  EXPECT_EQ(StatusOf(Guard(kToken, {}).CheckRead(far)), 401u);
  const std::string right = std::string("Bearer ") + kToken;
  far.authorization = right;
  EXPECT_EQ(StatusOf(Guard(kToken, {}).CheckRead(far)), 200u);
  EXPECT_EQ(StatusOf(Guard(kToken, {}).CheckRead(CallerWith(""))), 200u);
  EXPECT_EQ(StatusOf(Guard("", {}).CheckRead(CallerWith(""))), 200u);
}

TEST(GuardTest, NamesOfTheServer) {
  const Guard guard("", {"metrics.internal"});
  const auto status = [&](std::string_view host) {
    Caller caller = CallerWith("");
    caller.host = host;
    return StatusOf(guard.CheckHost(caller));
  };
  for (const char* host : {"127.0.0.1:9090", "localhost:9090", "LOCALHOST", "[::1]:9090", "::1",
                           "[::1]", "localhost:", "192.0.2.7", "Metrics.Internal:80"}) {
    EXPECT_EQ(status(host), 200u) << host;
  }
  for (const char* host :
       {"evil.example", "evil.example:9090", "localhost.evil.example", "127.0.0.1.evil.example", "",
        ":9090", "[", "[]", "a:b:c", "[::1", "::1]", "[::1]x:80", "[localhost]", "[127.0.0.1]",
        "localhost:http", "evil@localhost", "localhost/x"}) {
    EXPECT_EQ(status(host), 421u) << host;
  }
}

TEST(GuardTest, TokensThatAreNone) {
  EXPECT_NE(WhyNoToken("short").value_or("").find("want 16"), std::string::npos);
  EXPECT_NE(WhyNoToken("with a space in the middle").value_or("").find("cannot carry"),
            std::string::npos);
  EXPECT_NE(WhyNoToken("with-a-newline-in-it\n").value_or("").find("cannot carry"),
            std::string::npos);
  EXPECT_EQ(WhyNoToken(kToken), std::nullopt);
}

TEST(GuardTest, LoopbackAddresses) {
  const auto v4 = [](const char* text) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, text, &address.sin_addr);
    return IsLoopback(reinterpret_cast<const sockaddr*>(&address));
  };
  const auto v6 = [](const char* text) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    inet_pton(AF_INET6, text, &address.sin6_addr);
    return IsLoopback(reinterpret_cast<const sockaddr*>(&address));
  };
  EXPECT_TRUE(v4("127.0.0.1"));
  EXPECT_TRUE(v4("127.255.0.9"));
  EXPECT_FALSE(v4("192.0.2.1"));
  EXPECT_FALSE(v4("0.0.0.0"));
  EXPECT_TRUE(v6("::1"));
  EXPECT_TRUE(v6("::ffff:127.0.0.1"));
  EXPECT_FALSE(v6("::ffff:192.0.2.1"));
  EXPECT_FALSE(v6("2001:db8::1"));
  EXPECT_FALSE(v6("::"));
  EXPECT_FALSE(IsLoopback(nullptr));
}

}  // namespace
}  // namespace harena::live::internal
