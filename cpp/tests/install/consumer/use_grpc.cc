// A consumer of harena::grpc: a scoped service and one call to it over loopback.
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "echo.grpc.pb.h"
#include "echo.harena.grpc.h"
#include "harena/adapters/grpc/server.h"

namespace {

class EchoService final : public harena::consumer::Echo::CallbackService {
 public:
  grpc::ServerUnaryReactor* Say(grpc::CallbackServerContext* context,
                                const harena::consumer::Text* request,
                                harena::consumer::Text* response) override {
    on_arena = request->GetArena() != nullptr && response->GetArena() != nullptr;
    response->set_text(request->text());
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  bool on_arena = false;
};

}  // namespace

int main() {
  EchoService service;
  harena::grpc::Server scoped(service);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(scoped.service());
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) return 1;

  const auto stub = harena::consumer::Echo::NewStub(
      grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  harena::consumer::Text request;
  harena::consumer::Text response;
  request.set_text("sand");
  const grpc::Status status = stub->Say(&context, request, &response);
  server->Shutdown();
  return status.ok() && response.text() == "sand" && service.on_arena ? 0 : 1;
}
