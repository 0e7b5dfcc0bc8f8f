// A real tRPC server in this process, and clients of it over loopback. Not installed.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <trpc/client/client_context.h>
#include <trpc/client/rpc_service_proxy.h>
#include <trpc/common/trpc_app.h>
#include <trpc/server/service.h>

#include "harena/adapters/trpc/test_service.h"

namespace harena::trpc {

/// The thread model that the test program was built for: fiber, merge or separate.
extern const char* const kTestModel;

/// Runs `body` where tRPC's own calls may be made: in a fiber where the runtime is of fibers.
void Inside(const std::function<void()>& body);

/// What tRPC's generator makes for clients of the service.
class WorkProxy : public ::trpc::RpcServiceProxy {
 public:
  Status Run(const ::trpc::ClientContextPtr& context, const Task& task, Result* result) {
    context->SetFuncName(kRun);
    return UnaryInvoke<Task, Result>(context, task, result);
  }
};

/// Thread rule: made and ended on one thread; one per process, since tRPC's runtime starts once.
class TestServer : private ::trpc::TrpcApp {
 public:
  struct Listening {
    std::string name;
    std::shared_ptr<::trpc::Service> service;
  };
  static constexpr int kPacketBytesMax = 20 << 20;

  /// Returns once every service listens. With none it is a runtime for clients.
  explicit TestServer(std::vector<Listening> services);
  /// Ends as tRPC's signal handler ends a server: whatever runs is waited for.
  ~TestServer() override;

  int port(const std::string& name) const;
  /// A client of the service of that name. The same one for the same name.
  std::shared_ptr<WorkProxy> Proxy(const std::string& name) const;

 private:
  int Initialize() override;
  void Destroy() override {}
  std::string WriteConfig() const;

  struct Entry {
    Listening what;
    int port;
  };
  std::vector<Entry> entries_;
  std::promise<void> initialized_;  // tRPC's plugins are there by then, which clients need too
  std::thread thread_;
};

/// A client that need not play by the rules: bytes on a socket.
class RawClient {
 public:
  explicit RawClient(int port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// A whole call of `method`, as it goes over the wire.
  static std::string Frame(const std::string& method, const std::string& body);

  bool Send(const std::string& bytes);
  /// The framework's code of the next answer, or -1 when the connection ended before it.
  int NextCode();

 private:
  bool Read(char* bytes, size_t count);

  int socket_;
};

}  // namespace harena::trpc
