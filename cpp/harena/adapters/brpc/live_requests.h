// Which request a response belongs to: what ScopeOf() looks up.
#pragma once

#include <google/protobuf/message.h>

#include "harena/scope/scope.h"

namespace harena::brpc {

/// brpc tells a handler nothing about the RpcPBMessages that its messages came from, and a bthread
/// may run on another thread after every wait, so neither a context nor a thread's variable can
/// lead to the scope. What a handler surely has is its response: every request in flight stands in
/// one table of the process under the address of that.
struct LiveRequest {
  const google::protobuf::Message* response = nullptr;
  Scope* scope = nullptr;
  LiveRequest* next = nullptr;
};

/// Thread rule: any thread. A few tens of nanoseconds each; the table's locks are held for moments.
/// Lifetime rule: `request` stays where it is until it is removed.
void AddLiveRequest(LiveRequest& request) noexcept;
void RemoveLiveRequest(LiveRequest& request) noexcept;

}  // namespace harena::brpc
