// A consumer of harena::brpc: a server with a factory, and brpc's own console asked over loopback.
#include <string>

#include <brpc/channel.h>
#include <brpc/server.h>

#include "harena/adapters/brpc/message_factory.h"

int main() {
  brpc::ServerOptions options;
  options.rpc_pb_message_factory = new harena::brpc::MessageFactory;
  brpc::Server server;
  if (server.Start("127.0.0.1:0", &options) != 0) return 1;

  brpc::ChannelOptions channel_options;
  channel_options.protocol = "http";
  brpc::Channel channel;
  if (channel.Init(server.listen_address(), &channel_options) != 0) return 1;
  brpc::Controller controller;
  controller.http_request().uri() = "/vars/harena_pages_page_bytes";
  channel.CallMethod(nullptr, &controller, nullptr, nullptr, nullptr);
  const bool shown =
      controller.response_attachment().to_string().find("65536") != std::string::npos;
  return !controller.Failed() && shown ? 0 : 1;
}
