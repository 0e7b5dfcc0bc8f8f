#include "harena/adapters/grpc/server.h"

#include <grpcpp/support/message_allocator.h>

#include "harena/adapters/grpc/scope_of.h"
#include "harena/base/check.h"
#include "harena/base/log.h"

namespace harena::grpc {

void Server::Adopt(Installer& installer) {
  for (auto& method : installer.methods_) Add(std::move(method));
  uncovered_ = std::move(installer.uncovered_);
  for (const auto& [name, options] : installer.options_.methods) {
    if (Find(name) == nullptr) {
      FailCheck("harena::grpc::Server", 0, "ServerOptions::methods", UnknownMethod(name).c_str());
    }
  }
  SayWhatHasNoCodec();
  Begin(installer.options_);
}

// One line: what a server does otherwise than it was told is not to be found out by measuring.
void Server::SayWhatHasNoCodec() const {
  std::string without;
  size_t wanted = 0;
  for (const auto& method : methods()) {
    const Mode mode = method->scopes().mode();
    if (mode != Mode::kCodec) continue;
    ++wanted;
    if (method->ServedAs(mode) != mode) without += " " + method->name();
  }
  if (without.empty()) return;
  Log(Severity::kInfo,
      "mode codec is served as pages where messages were generated without it (of " +
          std::to_string(wanted) + " methods):" + without);
}

Scope* FindScope(::grpc::CallbackServerContext& context) noexcept {
  // A cast across, because the state may belong to somebody else's message allocator.
  auto* state = dynamic_cast<RequestState*>(context.GetRpcAllocatorState());
  return state == nullptr ? nullptr : state->scope();
}

Scope& ScopeOf(::grpc::CallbackServerContext& context) {
  Scope* scope = FindScope(context);
  HARENA_CHECK(scope != nullptr,
               "ScopeOf: this request has no scope; only callback-unary methods of a service that "
               "was wrapped by harena::grpc::Server have one. Register Server::service(), or use "
               "FindScope()");
  return *scope;
}

}  // namespace harena::grpc
