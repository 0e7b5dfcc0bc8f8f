// Server and loader as real processes on loopback, for a moment: no errors, graceful end.
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/demo/modes.h"
#include "bench/workloads/workloads.h"

namespace harena::bench {
namespace {

// The codec's types have the same names as the others, so that mode is another program's.
constexpr char kCodec[] = "codec";

std::vector<std::string> ModesOfBothServers() {
  std::vector<std::string> modes = ModeNames();
  modes.push_back(kCodec);
  return modes;
}

/// A server process that ends with this object.
class ServerProcess {
 public:
  explicit ServerProcess(const std::string& mode) {
    int to_server[2], from_server[2];
    if (pipe(to_server) != 0 || pipe(from_server) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(to_server[0], STDIN_FILENO);
      dup2(from_server[1], STDOUT_FILENO);
      for (const int file : {to_server[0], to_server[1], from_server[0], from_server[1]}) {
        close(file);
      }
      const char* program = mode == kCodec ? HARENA_DEMO_SERVER_CODEC : HARENA_DEMO_SERVER;
      execl(program, program, "--mode", mode.c_str(), nullptr);
      _exit(127);
    }
    close(to_server[0]);
    close(from_server[1]);
    stdin_ = to_server[1];
    FILE* out = fdopen(from_server[0], "r");
    char line[256] = "";
    if (fgets(line, sizeof line, out) != nullptr) ready_ = nlohmann::json::parse(line);
    fclose(out);
  }

  ~ServerProcess() {
    if (stdin_ >= 0) CloseStdin();
    if (pid_ > 0) Wait();
  }

  int port() const { return ready_.value("port", 0); }
  pid_t pid() const { return pid_; }

  void CloseStdin() {
    close(stdin_);
    stdin_ = -1;
  }

  int Wait() {
    int status = -1;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_ = 0;
  int stdin_ = -1;
  nlohmann::json ready_ = nlohmann::json::object();
};

/// What a program prints; empty if it failed.
std::string OutputOf(const std::string& command) {
  FILE* out = popen(command.c_str(), "r");
  std::string text;
  char part[4096];
  for (size_t bytes; (bytes = fread(part, 1, sizeof part, out)) > 0;) text.append(part, bytes);
  return pclose(out) == 0 ? text : "";
}

/// Runs the loader and returns what it printed; empty if it failed.
nlohmann::json RunLoader(const ServerProcess& server, const std::string& arguments) {
  const std::string command = std::string(HARENA_DEMO_LOADER) + " --port " +
                              std::to_string(server.port()) + " --pid " +
                              std::to_string(server.pid()) + " " + arguments;
  const std::string text = OutputOf(command);
  return text.empty() ? nlohmann::json() : nlohmann::json::parse(text);
}

class DemoSmokeTest : public testing::TestWithParam<std::string> {};

TEST_P(DemoSmokeTest, EveryWorkloadAnswersWithoutErrors) {
  ServerProcess server(GetParam());
  ASSERT_NE(server.port(), 0);
  for (const std::string& workload : WorkloadNames()) {
    const nlohmann::json report =
        RunLoader(server, "--workload " + workload + " --in-flight 4 --seconds 0.3");
    ASSERT_TRUE(report.is_object()) << workload;
    EXPECT_EQ(report["errors"], 0) << workload << ": " << report["first_error"];
    EXPECT_GT(report["requests"], 0) << workload;
    EXPECT_EQ(report["latencies_us"].size(), report["requests"]);
    EXPECT_GT(report["server_cpu_seconds"], 0.0);
    EXPECT_GT(report["rss_bytes"], 1'000'000);
  }
}

TEST_P(DemoSmokeTest, OpenLoopSendsEveryRequestOfItsSchedule) {
  ServerProcess server(GetParam());
  const nlohmann::json report = RunLoader(server, "--workload ranking_8k --qps 100 --seconds 1");
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["errors"], 0);
  EXPECT_EQ(report["requests"], 100);
  EXPECT_EQ(report["latencies_us"].size(), 100);
  EXPECT_GE(report["seconds"], 1.0);
}

TEST_P(DemoSmokeTest, EndsWhenItsInputClosesOrOnSigterm) {
  ServerProcess closed(GetParam());
  closed.CloseStdin();
  EXPECT_EQ(closed.Wait(), 0);
  ServerProcess terminated(GetParam());
  ASSERT_NE(terminated.port(), 0);
  kill(terminated.pid(), SIGTERM);
  EXPECT_EQ(terminated.Wait(), 0);
}

TEST(DemoServers, EachOffersTheModesOfItsTypes) {
  EXPECT_EQ(OutputOf(HARENA_DEMO_SERVER " --list-modes"), "heap\narena\npages\nreuse\n");
  EXPECT_EQ(OutputOf(HARENA_DEMO_SERVER_CODEC " --list-modes"), "codec\n");
}

INSTANTIATE_TEST_SUITE_P(Modes, DemoSmokeTest, testing::ValuesIn(ModesOfBothServers()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace harena::bench
