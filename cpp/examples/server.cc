// A gRPC server whose requests each have their own memory and a limit to it. Ends with its input.
#include "harena/adapters/grpc/server.h"

#include <iostream>
#include <limits>
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "greeter.grpc.pb.h"
#include "greeter.harena.grpc.h"
#include "harena/adapters/grpc/scope_of.h"

class GreeterService final : public greeter::Greeter::CallbackService {
  // An ordinary handler: where its messages live is not its business.
  grpc::ServerUnaryReactor* Greet(grpc::CallbackServerContext* context,
                                  const greeter::Request* request, greeter::Reply* reply) override {
    for (const std::string& name : request->names()) reply->add_greetings("Hello, " + name + "!");
    // Optional: the scope holds whatever else should live as long as the call.
    std::clog << harena::grpc::ScopeOf(*context).bytes_used() << " bytes used by this call\n";
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "127.0.0.1:50051";
  GreeterService service;
  harena::grpc::Server scoped(service, {.request_bytes_max = 64 << 20});
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(scoped.service());
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) return 1;
  std::cout << port << std::endl;  // of "127.0.0.1:0" nobody else knows it

  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  server->Shutdown();
  for (const auto& method : scoped.stats()) {
    std::clog << method.name << ": " << method.requests << " requests, " << method.refused
              << " refused, 99 % within " << method.scopes.bytes_p99 << " bytes\n";
  }
}
