// The demo's server process: one memory mode, one core. It prints one line of JSON when it is ready
// and ends when its standard input closes or on SIGTERM; when it was asked for that, with one line
// of what Harena counted.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <grpcpp/grpcpp.h>
#include <nlohmann/json.hpp>

#include "bench/demo/demo_service.h"
#include "bench/demo/modes.h"
#include "bench/demo/operation.h"
#include "bench/load/limits.h"
#include "bench/load/process_stats.h"
#include "bench/load/server_life.h"
#include "harena/guard/fault_reporter.h"
#include "harena/guard/hardening.h"
#include "harena/mem/page_pool.h"

namespace {

constexpr int kMessageBytesMax = 64 << 20;
constexpr std::chrono::seconds kShutdownGrace{5};

struct Flags {
  std::string mode = harena::bench::ModeNames().front();
  int cpu = -1;
  int port = 0;
  harena::grpc::ServerOptions options;
  bool hardened = false;
  bool counts = false;
  harena::bench::OperationFlags operation;
};

int Serve(const Flags& flags) {
  const harena::bench::ServerLife life;
  harena::InstallFaultReporter();  // a touch of a sampled request's memory says whose it was
  if (flags.cpu >= 0 && !harena::bench::PinTo(flags.cpu)) {
    std::fprintf(stderr, "cannot pin the server to core %d\n", flags.cpu);
    return 1;
  }
  harena::bench::DemoServiceImpl service;
  const auto seam = harena::bench::MakeModeSeam(flags.mode, service, flags.options);
  const harena::bench::Operation operation(flags.operation);
  int port = 0;
  ::grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMessageBytesMax);
  builder.AddListeningPort("127.0.0.1:" + std::to_string(flags.port),
                           ::grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(seam->service());
  const auto server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    std::fprintf(stderr, "cannot listen on 127.0.0.1:%d\n", flags.port);
    return 1;
  }
  nlohmann::json ready = {{"port", port}, {"pid", getpid()}, {"mode", flags.mode}};
  if (!operation.live_address().empty()) ready["live"] = operation.live_address();
  if (!operation.metrics_address().empty()) ready["metrics"] = operation.metrics_address();
  std::printf("%s\n", ready.dump().c_str());
  std::fflush(stdout);
  life.WaitForEnd();
  server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  server->Wait();
  if (flags.counts) {
    std::printf("%s\n", harena::bench::CountsOf(seam->stats()).dump().c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("The demo's gRPC server: one memory mode, one core");
  app.add_option("--mode", flags.mode, "Memory mode")
      ->check(CLI::IsMember(harena::bench::ModeNames()))
      ->capture_default_str();
  app.add_option("--cpu", flags.cpu, "Core to run on; -1 for any")->capture_default_str();
  app.add_option("--port", flags.port, "Loopback port; 0 for any")->capture_default_str();
  harena::bench::AddLimits(app, flags.options.defaults, flags.options.process_bytes_max);
  app.add_flag("--hardened", flags.hardened, "Requests lie in the process's hardened pool");
  app.add_flag("--counts", flags.counts, "Print what Harena counted as JSON at the end");
  harena::bench::AddOperationFlags(app, flags.operation);
  bool list = false;
  app.add_flag("--list-modes", list, "Print the memory modes, one per line, and end");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    for (const std::string& mode : harena::bench::ModeNames()) std::puts(mode.c_str());
    return 0;
  }
  if (flags.hardened) flags.options.defaults.page_pool = &harena::guard::HardenedPool();
  try {
    return Serve(flags);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "demo server: %s\n", error.what());
    return 1;
  }
}
