#include "harena/adapters/trpc/test_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <future>
#include <utility>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <trpc/client/trpc_client.h>
#include <trpc/codec/trpc/trpc_protocol.h>
#include <trpc/coroutine/fiber.h>
#include <trpc/runtime/runtime.h>
#include <trpc/util/buffer/zero_copy_stream.h>

namespace harena::trpc {
namespace {

using std::chrono::milliseconds;

constexpr size_t kFixedHeaderBytes = ::trpc::TrpcFixedHeader::TRPC_PROTO_PREFIX_SPACE;

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Of ports that nobody listens on: tRPC takes no socket, and does not say which port it got.
std::vector<int> FreePorts(size_t count) {
  std::vector<int> sockets;
  std::vector<int> ports;
  for (size_t i = 0; i < count; ++i) {
    sockets.push_back(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    if (bind(sockets.back(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        getsockname(sockets.back(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      ADD_FAILURE() << "no free port";
    }
    ports.push_back(ntohs(address.sin_port));
  }
  for (const int one : sockets) close(one);
  return ports;
}

bool Listens(int port) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = Loopback(port);
  const bool connected =
      connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(client);
  return connected;
}

}  // namespace

void Inside(const std::function<void()>& body) {
  if (!::trpc::runtime::IsInFiberRuntime()) return body();
  std::promise<void> done;
  ASSERT_TRUE(::trpc::StartFiberDetached([&] {
    body();
    done.set_value();
  }));
  done.get_future().wait();
}

TestServer::TestServer(std::vector<Listening> services) {
  const std::vector<int> ports = FreePorts(services.size());
  for (size_t i = 0; i < services.size(); ++i) {
    entries_.push_back({.what = std::move(services[i]), .port = ports[i]});
  }
  thread_ = std::thread([this, config = WriteConfig()] {
    std::string program = "test_server";
    std::string flag = "--config=" + config;
    char* arguments[] = {program.data(), flag.data(), nullptr};
    Main(2, arguments);
    Wait();
  });
  initialized_.get_future().wait();
  for (const Entry& entry : entries_) {
    while (!Listens(entry.port)) std::this_thread::sleep_for(milliseconds(10));
  }
}

TestServer::~TestServer() {
  Terminate();
  thread_.join();
}

int TestServer::port(const std::string& name) const {
  for (const Entry& entry : entries_) {
    if (entry.what.name == name) return entry.port;
  }
  ADD_FAILURE() << "no service " << name;
  return 0;
}

std::shared_ptr<WorkProxy> TestServer::Proxy(const std::string& name) const {
  ::trpc::ServiceProxyOption option;
  option.name = "client." + name;
  option.target = "127.0.0.1:" + std::to_string(port(name));
  option.selector_name = "direct";
  option.timeout = 60'000;
  option.max_packet_size = kPacketBytesMax;
  return ::trpc::GetTrpcClient()->GetProxy<WorkProxy>(option.name, option);
}

int TestServer::Initialize() {
  for (const Entry& entry : entries_) RegisterService(entry.what.name, entry.what.service);
  initialized_.set_value();
  return 0;
}

std::string TestServer::WriteConfig() const {
  const std::string model = kTestModel;
  const std::string path =
      ::testing::TempDir() + "harena_trpc_" + std::to_string(getpid()) + ".yaml";
  std::ofstream config(path);
  config << "global:\n  threadmodel:\n";
  if (model == "fiber") {
    config << "    fiber:\n      - instance_name: one\n        concurrency_hint: 3\n";
  } else {
    config << "    default:\n      - instance_name: one\n        io_handle_type: " << model
           << "\n        io_thread_num: 2\n";
    if (model == "separate") config << "        handle_thread_num: 2\n";
  }
  config << "server:\n  app: harena\n  server: test\n  service:\n";
  for (const Entry& entry : entries_) {
    config << "    - name: " << entry.what.name
           << "\n      protocol: trpc\n      network: tcp\n      ip: 127.0.0.1\n      port: "
           << entry.port << "\n      max_packet_size: " << kPacketBytesMax << "\n";
  }
  return path;
}

RawClient::RawClient(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
  const sockaddr_in address = Loopback(port);
  EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
}

RawClient::~RawClient() { close(socket_); }

std::string RawClient::Frame(const std::string& method, const std::string& body) {
  ::trpc::TrpcRequestProtocol request;
  request.req_header.set_request_id(1);
  request.req_header.set_timeout(60'000);
  request.req_header.set_func(method);
  request.SetNonContiguousProtocolBody(::trpc::CreateBufferSlow(body));
  ::trpc::NoncontiguousBuffer bytes;
  EXPECT_TRUE(request.ZeroCopyEncode(bytes));
  return ::trpc::FlattenSlow(bytes);
}

bool RawClient::Send(const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t more = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) return false;
    sent += static_cast<size_t>(more);
  }
  return true;
}

int RawClient::NextCode() {
  std::string bytes(kFixedHeaderBytes, '\0');
  if (!Read(bytes.data(), bytes.size())) return -1;
  ::trpc::NoncontiguousBuffer start = ::trpc::CreateBufferSlow(bytes);
  ::trpc::TrpcFixedHeader header;
  if (!header.Decode(start)) return -1;
  bytes.resize(header.data_frame_size);
  if (!Read(bytes.data() + kFixedHeaderBytes, bytes.size() - kFixedHeaderBytes)) return -1;
  ::trpc::ResponseProtocol response;
  if (!response.ParseFromArray(bytes.data() + kFixedHeaderBytes, header.pb_header_size)) return -1;
  return response.ret();
}

bool RawClient::Read(char* bytes, size_t count) {
  for (size_t got = 0; got < count;) {
    const ssize_t more = recv(socket_, bytes + got, count - got, 0);
    if (more <= 0) return false;
    got += static_cast<size_t>(more);
  }
  return true;
}

}  // namespace harena::trpc
