// The server of the interop test: harena.test.brpc.Work in one memory mode. It prints its port and
// ends when its standard input closes.
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include <brpc/server.h>
#include <butil/logging.h>

#include "harena/adapters/brpc/message_factory.h"
#include "harena/scope/mode.h"
#include "harena/test/brpc_work.pb.h"

namespace {

using google::protobuf::Closure;
using google::protobuf::RpcController;
using harena::test::brpc::Holder;
using harena::test::brpc::Result;
using harena::test::brpc::Task;

class WorkService final : public harena::test::brpc::Work {
 public:
  void Run(RpcController* controller, const Task* task, Result* result, Closure* done) override {
    const brpc::ClosureGuard guard(done);
    auto* call = static_cast<brpc::Controller*>(controller);
    if (task->text() == "fail") return call->SetFailed(EPERM, "failed, as the request asks");
    result->set_text("re: " + task->text());
    result->set_number(task->number() + 1);
    result->mutable_items()->CopyFrom(task->items());
    result->set_blob(task->blob());
    call->response_attachment().swap(call->request_attachment());
    call->set_response_compress_type(call->request_compress_type());
  }
  void Hold(RpcController* controller, const Holder*, Holder*, Closure* done) override {
    const brpc::ClosureGuard guard(done);
    controller->SetFailed("nobody asks for this");
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto mode = harena::ParseMode(argc == 2 ? argv[1] : "");
  if (!mode) {
    std::fprintf(stderr, "usage: %s heap|arena|pages|reuse|codec\n", argv[0]);
    return 2;
  }
  logging::SetMinLogLevel(logging::BLOG_ERROR);
  WorkService service;
  brpc::Server server;
  brpc::ServerOptions options;
  options.rpc_pb_message_factory = new harena::brpc::MessageFactory(harena::Options{.mode = *mode});
  if (server.AddService(&service, brpc::SERVER_DOESNT_OWN_SERVICE) != 0 ||
      server.Start("127.0.0.1:0", &options) != 0) {
    return 1;
  }
  std::printf("%d\n", server.listen_address().port);
  std::fflush(stdout);
  for (char ignored[64]; read(STDIN_FILENO, ignored, sizeof ignored) > 0;) {
  }
  server.Stop(0);
  server.Join();
  return 0;
}
