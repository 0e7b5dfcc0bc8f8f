// A real tRPC server that serves the same methods in every mode, each as a service of its own, and
// tests on it. It starts before the first test and ends under load after the last one. Not
// installed.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "harena/adapters/trpc/call.h"
#include "harena/adapters/trpc/services.h"
#include "harena/adapters/trpc/test_server.h"
#include "harena/scope/mode.h"

namespace harena::trpc {

using Call = ClientCall<Task, Result>;

// tRPC's own handlers, on pages. The others are named by their mode.
inline constexpr char kOwn[] = "own";
inline constexpr char kLimited[] = "limited";
inline constexpr size_t kDecompressedBytesMax = 1 << 20;
inline constexpr Mode kModes[] = {Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse,
                                  Mode::kCodec};

inline std::string NameOf(Mode mode) { return std::string(ToString(mode)); }

struct Served {
  std::shared_ptr<WorkService> service = std::make_shared<WorkService>();
  std::unique_ptr<Services> services;  // null for kOwn
};

class Everything {
 public:
  Everything();

  Served& served(const std::string& name) { return served_.at(name); }
  TestServer& server() { return *server_; }
  void EndServer() { server_.reset(); }

  /// What the servers' messages take that are not kept for the next request.
  size_t bytes_in_use() const;

 private:
  void Add(const std::string& name, std::unique_ptr<Services> services);

  std::map<std::string, Served> served_;
  std::optional<TestServer> server_;
};

/// Polls `condition` for up to half a minute.
template <typename Condition>
bool Eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// Clients' messages are on a pool of their own, so that the servers' can be told from them.
CallPool<Call>& CallsOf(Mode mode);

class ServerTest : public ::testing::Test {
 protected:
  /// Methods are as they were, and nothing is left of what was served.
  ~ServerTest() override;

  static Served& Of(const std::string& name);
  static TestServer& server();

  static ::testing::AssertionResult AnswersAsExpected(const std::string& name, const Task& task,
                                                      Mode client = Mode::kCodec);
};

/// One of a name in TestServer, as a parameter.
class EveryService : public ServerTest, public ::testing::WithParamInterface<std::string> {
 protected:
  static Served& served() { return Of(GetParam()); }
  static int port() { return server().port(GetParam()); }
};

}  // namespace harena::trpc
