// The service of the tests that run inside of tRPC. Not installed.
#pragma once

#include <functional>
#include <utility>

#include <trpc/server/rpc/rpc_method_handler.h>
#include <trpc/server/rpc/rpc_service_impl.h>
#include <trpc/server/server_context.h>

#include "harena/adapters/trpc/test_call.h"
#include "harena/test/trpc_plain.pb.h"

namespace harena::trpc {

using test::trpc::Form;
using ::trpc::ServerContext;
using ::trpc::ServerContextPtr;
using ::trpc::Status;

inline constexpr char kRun[] = "/harena.test.trpc.Work/Run";
inline constexpr char kHold[] = "/harena.test.trpc.Work/Hold";
inline constexpr char kCheck[] = "/harena.test.trpc.Work/Check";
inline constexpr char kStream[] = "/harena.test.trpc.Work/Stream";

/// What tRPC's generator makes of a service, whose methods each test may write itself.
class WorkService : public ::trpc::RpcServiceImpl {
 public:
  WorkService() {
    Add(kRun, &WorkService::Run);
    Add(kHold, &WorkService::Hold);
    Add(kCheck, &WorkService::Check);
    AddRpcServiceMethod(
        new ::trpc::RpcServiceMethod(kStream, ::trpc::MethodType::BIDI_STREAMING, nullptr));
  }

  virtual Status Run(ServerContextPtr context, const Task* task, Result* result) {
    if (on_run) return on_run(context, *task, *result);
    Answer(*task, result);
    return ::trpc::kSuccStatus;
  }
  virtual Status Hold(ServerContextPtr, const Holder* in, Holder* out) {
    *out = *in;
    return ::trpc::kSuccStatus;
  }
  virtual Status Check(ServerContextPtr, const Form* in, Form* out) {
    *out = *in;
    return ::trpc::kSuccStatus;
  }

  std::function<Status(const ServerContextPtr&, const Task&, Result&)> on_run;

 private:
  template <typename Request, typename Response>
  void Add(const char* name,
           Status (WorkService::*method)(ServerContextPtr, const Request*, Response*)) {
    AddRpcServiceMethod(new ::trpc::RpcServiceMethod(
        name, ::trpc::MethodType::UNARY,
        new ::trpc::RpcMethodHandler<Request, Response>(
            [this, method](ServerContextPtr context, const Request* request, Response* response) {
              return (this->*method)(std::move(context), request, response);
            })));
  }
};

}  // namespace harena::trpc
