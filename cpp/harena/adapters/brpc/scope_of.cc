#include "harena/adapters/brpc/scope_of.h"

#include "harena/adapters/brpc/live_requests.h"
#include "harena/base/check.h"

namespace harena::brpc {

Scope* FindScope(const google::protobuf::Message& response) noexcept {
  return FindLiveRequest(response);
}

Scope& ScopeOf(const google::protobuf::Message& response) {
  Scope* scope = FindScope(response);
  HARENA_CHECK(
      scope != nullptr,
      "ScopeOf: this response has no scope. Pass the response that brpc gave to the handler, "
      "before `done` runs, of a server whose ServerOptions::rpc_pb_message_factory is a "
      "harena::brpc::MessageFactory and whose protocol asks it (baidu_std, http, h2); or "
      "use FindScope()");
  return *scope;
}

}  // namespace harena::brpc
