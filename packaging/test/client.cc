// One call to the README's server, which it waits for.
#include <chrono>
#include <iostream>
#include <string>

#include <grpcpp/grpcpp.h>

#include "harena/bench/v1/demo.grpc.pb.h"

int main() {
  const auto stub = harena::bench::v1::DemoService::NewStub(
      grpc::CreateChannel("127.0.0.1:50051", grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  harena::bench::v1::RankRequest request;
  harena::bench::v1::RankResponse response;
  request.set_request_id("a request identifier that no string keeps inline");
  const grpc::Status status = stub->Rank(&context, request, &response);
  if (!status.ok()) {
    std::cerr << "the call failed: " << status.error_message() << '\n';
    return 1;
  }
  return response.request_id() == request.request_id() ? 0 : 1;
}
