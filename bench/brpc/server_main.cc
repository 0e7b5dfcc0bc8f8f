// A brpc server for measurements: one memory mode, one core. It prints one line of JSON when it is
// ready and ends when its standard input closes or on SIGTERM.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <brpc/server.h>
#include <butil/logging.h>
#include <nlohmann/json.hpp>

#include "bench/brpc/modes.h"
#include "bench/load/process_stats.h"
#include "bench/load/server_life.h"
#include "harena/bench/v1/terms.pb.h"

namespace {

struct Flags {
  std::string mode = harena::bench::BrpcModeNames().front();
  int cpu = -1;
  int port = 0;
};

// As any brpc user would write it: it knows nothing of memory modes.
class Terms final : public harena::bench::v1::TermsService {
 public:
  void Echo(google::protobuf::RpcController* controller,
            const harena::bench::v1::EchoRequest* request,
            harena::bench::v1::EchoResponse* response, google::protobuf::Closure* done) override {
    const brpc::ClosureGuard guard(done);
    if (request->has_tree()) response->mutable_tree()->CopyFrom(request->tree());
    auto* call = static_cast<brpc::Controller*>(controller);
    // Written anew, as a response's bytes are.
    const butil::IOBuf& received = call->request_attachment();
    for (size_t i = 0; i < received.backing_block_num(); ++i) {
      const butil::StringPiece bytes = received.backing_block(i);
      call->response_attachment().append(bytes.data(), bytes.size());
    }
  }
};

int Serve(const Flags& flags) {
  const harena::bench::ServerLife life;
  logging::SetMinLogLevel(logging::BLOG_ERROR);
  if (flags.cpu >= 0 && !harena::bench::PinTo(flags.cpu)) {
    std::fprintf(stderr, "cannot pin the server to core %d\n", flags.cpu);
    return 1;
  }
  Terms terms;
  brpc::ServerOptions options;
  options.rpc_pb_message_factory =
      harena::bench::MakeFactory(flags.mode).release();  // the server's
  brpc::Server server;
  if (server.AddService(&terms, brpc::SERVER_DOESNT_OWN_SERVICE) != 0 ||
      server.Start(("127.0.0.1:" + std::to_string(flags.port)).c_str(), &options) != 0) {
    std::fprintf(stderr, "cannot listen on 127.0.0.1:%d\n", flags.port);
    return 1;
  }
  const nlohmann::json ready = {
      {"port", server.listen_address().port}, {"pid", getpid()}, {"mode", flags.mode}};
  std::printf("%s\n", ready.dump().c_str());
  std::fflush(stdout);
  life.WaitForEnd();
  server.Stop(0);
  server.Join();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("A brpc server for measurements: one memory mode, one core");
  app.add_option("--mode", flags.mode, "Memory mode")
      ->check(CLI::IsMember(harena::bench::BrpcModeNames()))
      ->capture_default_str();
  app.add_option("--cpu", flags.cpu, "Core to run on; -1 for any")->capture_default_str();
  app.add_option("--port", flags.port, "Loopback port; 0 for any")->capture_default_str();
  bool list = false;
  app.add_flag("--list-modes", list, "Print the memory modes, one per line, and end");
  CLI11_PARSE(app, argc, argv);
  if (list) {
    for (const std::string& mode : harena::bench::BrpcModeNames()) std::puts(mode.c_str());
    return 0;
  }
  try {
    return Serve(flags);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "brpc server: %s\n", error.what());
    return 1;
  }
}
