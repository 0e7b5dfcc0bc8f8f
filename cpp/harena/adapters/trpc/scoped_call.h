// Request, response and scope of one unary call of a service on scopes.
#pragma once

#include <google/protobuf/message.h>
#include <trpc/server/server_context.h>

#include "harena/pb/call/call_messages.h"

namespace harena::trpc {

/// Lives on its own scope, so that a call costs no allocation for it, and hangs on the call's
/// ServerContext.
/// Thread rule: as tRPC uses a context: made, filled and ended one after the other, each on any
/// thread. Lifetime rule: until End(), after the response was serialized or the context is gone.
class ScopedCall {
 public:
  /// Ends what CallMessages::TryMakeOnScope() made.
  void End() noexcept;

  /// The one that hangs on `context`; null when there is none.
  static ScopedCall* Of(::trpc::ServerContext& context) noexcept;
  /// Throws std::bad_alloc; then it has ended.
  void HangOn(::trpc::ServerContext& context);
  void TakeOff(::trpc::ServerContext& context) noexcept;

  Scope& scope() noexcept { return messages_.scope(); }
  google::protobuf::Message& request() noexcept {
    return static_cast<google::protobuf::Message&>(messages_.request());
  }
  /// Why parsing the request was refused memory; null when it was not.
  const Refusal* refused_parse() const noexcept { return messages_.refused_parse(); }

 private:
  friend class pb::CallMessages;

  explicit ScopedCall(pb::CallMessages messages) noexcept;
  ~ScopedCall() = default;

  pb::CallMessages messages_;
};

}  // namespace harena::trpc
