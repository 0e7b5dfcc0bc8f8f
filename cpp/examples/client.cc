// A gRPC client whose calls are recycled as a whole: context, request, response and their memory.
#include <iostream>
#include <string>

#include <grpcpp/grpcpp.h>

#include "greeter.grpc.pb.h"
#include "harena/adapters/grpc/call.h"

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "127.0.0.1:50051";
  const auto stub =
      greeter::Greeter::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));

  using Call = harena::grpc::ClientCall<greeter::Request, greeter::Reply>;
  harena::grpc::CallPool<Call> calls;
  for (const char* name : {"sand", "arena", "world"}) {
    Call call = calls.Acquire();
    call.request().add_names(name);
    const grpc::Status status = stub->Greet(&call.context(), call.request(), &call.response());
    if (!status.ok()) {
      std::cerr << status.error_message() << '\n';
      return 1;
    }
    std::cout << call.response().greetings(0) << '\n';
  }
}
