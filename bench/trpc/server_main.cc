// The demo's service as a process on tRPC-Cpp, in mode codec. It prints one line of JSON when it is
// ready and ends when its standard input closes or on SIGTERM; when it was asked for that, with one
// line of what Harena counted.
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <trpc/common/trpc_app.h>
#include <trpc/server/rpc/rpc_method_handler.h>
#include <trpc/server/rpc/rpc_service_impl.h>

#include "bench/load/limits.h"
#include "bench/load/process_stats.h"
#include "bench/load/server_life.h"
#include "bench/workloads/feed_board.h"
#include "bench/workloads/ranking.h"
#include "bench/workloads/tile_restyle.h"
#include "harena/adapters/trpc/services.h"
#include "harena/adapters/trpc/within_budget.h"
#include "harena/guard/fault_reporter.h"

namespace {

using harena::bench::v1::FeedBoard;
using harena::bench::v1::RankRequest;
using harena::bench::v1::RankResponse;
using transit_realtime::FeedMessage;
using trpc::ServerContextPtr;
using trpc::Status;
using vector_tile::Tile;

constexpr int kPacketBytesMax = 64 << 20;
constexpr char kRank[] = "/harena.bench.v1.DemoService/Rank";
constexpr char kBoardFeed[] = "/harena.bench.v1.DemoService/BoardFeed";
constexpr char kRestyleTile[] = "/harena.bench.v1.DemoService/RestyleTile";

struct Flags {
  int cpu = -1;
  int port = 0;
  harena::trpc::ServicesOptions options;
  bool counts = false;
};

// What tRPC's generator makes of the service, and what its user writes.
class Demo final : public trpc::RpcServiceImpl {
 public:
  Demo() {
    Add(kRank, &Demo::Rank);
    Add(kBoardFeed, &Demo::BoardFeed);
    Add(kRestyleTile, &Demo::RestyleTile);
  }

  Status Rank(ServerContextPtr context, const RankRequest* in, RankResponse* out) {
    harena::trpc::WithinBudget(*context, [&] { harena::bench::Rank(*in, out); });
    return trpc::kSuccStatus;
  }
  Status BoardFeed(ServerContextPtr context, const FeedMessage* in, FeedBoard* out) {
    harena::trpc::WithinBudget(*context, [&] { harena::bench::BoardFeed(*in, out); });
    return trpc::kSuccStatus;
  }
  Status RestyleTile(ServerContextPtr context, const Tile* in, Tile* out) {
    harena::trpc::WithinBudget(*context, [&] { harena::bench::RestyleTile(*in, out); });
    return trpc::kSuccStatus;
  }

 private:
  template <typename In, typename Out>
  void Add(const char* name, Status (Demo::*method)(ServerContextPtr, const In*, Out*)) {
    AddRpcServiceMethod(new trpc::RpcServiceMethod(
        name, trpc::MethodType::UNARY,
        new trpc::RpcMethodHandler<In, Out>(
            [this, method](ServerContextPtr context, const In* in, Out* out) {
              return (this->*method)(std::move(context), in, out);
            })));
  }
};

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A port that nobody listens on: tRPC does not say which one it got.
int FreePort() {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  const bool bound = bind(file, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(file);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

bool Listens(int port) {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = Loopback(port);
  const bool connected =
      connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(file);
  return connected;
}

// tRPC reads its settings from a file only.
class Config {
 public:
  explicit Config(int port) {
    const int file = mkstemp(path_);
    if (file < 0) throw std::runtime_error("no temporary file");
    close(file);
    std::ofstream(path_) << "global:\n  threadmodel:\n    default:\n      - instance_name: one\n"
                            "        io_handle_type: separate\n        io_thread_num: 2\n"
                            "        handle_thread_num: 2\n"
                            "server:\n  app: harena\n  server: demo\n  service:\n"
                            "    - name: demo\n      protocol: trpc\n      network: tcp\n"
                            "      ip: 127.0.0.1\n      port: "
                         << port << "\n      max_packet_size: " << kPacketBytesMax << "\n";
  }
  ~Config() { unlink(path_); }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/harena_trpc_XXXXXX";
};

class App final : public trpc::TrpcApp {
 public:
  explicit App(std::shared_ptr<Demo> demo) : demo_(std::move(demo)) {}
  int Initialize() override {
    RegisterService("demo", demo_);
    return 0;
  }
  void Destroy() override {}

 private:
  const std::shared_ptr<Demo> demo_;
};

// tRPC logs to standard output, where the answers go: those go to a copy of it.
FILE* TakeStandardOutput() {
  FILE* const answers = fdopen(dup(STDOUT_FILENO), "w");
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return answers;
}

void Say(FILE* answers, const nlohmann::json& what) {
  std::fprintf(answers, "%s\n", what.dump().c_str());
  std::fflush(answers);
}

int Serve(const Flags& flags) {
  const harena::bench::ServerLife life;
  FILE* const answers = TakeStandardOutput();
  harena::InstallFaultReporter();
  if (flags.cpu >= 0 && !harena::bench::PinTo(flags.cpu)) {
    std::fprintf(stderr, "cannot pin the server to core %d\n", flags.cpu);
    return 1;
  }
  const auto demo = std::make_shared<Demo>();
  harena::trpc::Services services(flags.options);
  services.Serve(*demo, kRank, &Demo::Rank);
  services.Serve(*demo, kBoardFeed, &Demo::BoardFeed);
  services.Serve(*demo, kRestyleTile, &Demo::RestyleTile);

  const int port = flags.port != 0 ? flags.port : FreePort();
  const Config config(port);
  App app(demo);
  std::thread server([&app, argument = std::string("--config=") + config.path()]() mutable {
    std::string program = "harena_trpc_server_codec";
    char* arguments[] = {program.data(), argument.data(), nullptr};
    app.Main(2, arguments);
    app.Wait();
  });
  while (!Listens(port)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  Say(answers, {{"port", port}, {"pid", getpid()}, {"mode", "codec"}});
  life.WaitForEnd();
  app.Terminate();
  server.join();
  if (flags.counts) Say(answers, harena::bench::CountsOf(services.stats()));
  std::fclose(answers);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  std::string mode = "codec";
  CLI::App app("The demo's service on tRPC-Cpp");
  app.add_option("--mode", mode, "Memory mode")->check(CLI::IsMember({"codec"}));
  app.add_option("--cpu", flags.cpu, "Core to run on; -1 for any")->capture_default_str();
  app.add_option("--port", flags.port, "Loopback port; 0 for any")->capture_default_str();
  harena::bench::AddLimits(app, flags.options.defaults, flags.options.process_bytes_max);
  app.add_flag("--counts", flags.counts, "Print what Harena counted as JSON at the end");
  CLI11_PARSE(app, argc, argv);
  try {
    return Serve(flags);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trpc server: %s\n", error.what());
    return 1;
  }
}
