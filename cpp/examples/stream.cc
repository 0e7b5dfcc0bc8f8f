// A stream of any length in the memory of one message, on both of its sides.
#include <iostream>
#include <memory>

#include <grpcpp/grpcpp.h>

#include "greeter.grpc.pb.h"
#include "harena/adapters/grpc/stream_message.h"

class GreeterService final : public greeter::Greeter::Service {
  grpc::Status Talk(grpc::ServerContext*,
                    grpc::ServerReaderWriter<greeter::Reply, greeter::Request>* stream) override {
    harena::grpc::StreamMessage<greeter::Request> request(scopes_);
    harena::grpc::StreamMessage<greeter::Reply> reply(scopes_);
    while (stream->Read(request.Renew())) {
      reply.Renew()->add_greetings("Hello, " + request.message().names(0) + "!");
      if (!stream->Write(reply.message())) break;
    }
    return grpc::Status::OK;
  }

  harena::ScopePool scopes_{harena::Options{}, harena::MessagesMayThrow::kNo};
};

int main() {
  GreeterService service;
  grpc::ServerBuilder builder;
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const auto stub = greeter::Greeter::NewStub(server->InProcessChannel({}));

  harena::ScopePool scopes({}, harena::MessagesMayThrow::kNo);
  harena::grpc::StreamMessage<greeter::Request> request(scopes);
  harena::grpc::StreamMessage<greeter::Reply> reply(scopes);
  grpc::ClientContext context;
  const auto stream = stub->Talk(&context);
  int greetings = 0;
  for (int i = 0; i < 1000; ++i) {
    request.Renew()->add_names("grain " + std::to_string(i));
    if (!stream->Write(request.message()) || !stream->Read(reply.Renew())) break;
    greetings += reply.message().greetings_size();
  }
  stream->WritesDone();
  const grpc::Status status = stream->Finish();
  std::cout << greetings << " greetings, " << scopes.stats().scopes_live()
            << " messages in memory\n";
  return status.ok() && greetings == 1000 ? 0 : 1;
}
