// Serves one unary method on scopes, in the place of tRPC's own handler.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <google/protobuf/message.h>
#include <trpc/codec/codec_helper.h>
#include <trpc/server/method_handler.h>
#include <trpc/server/server_context.h>

#include "harena/adapters/trpc/scoped_call.h"
#include "harena/pb/call/method.h"

namespace harena::trpc {

/// What tRPC's RpcMethodHandler does, by the same steps (decompress, deserialize, filters, the
/// method, filters, serialize, compress), with request and response on one scope.
/// Thread rule: any thread. Lifetime rule: owned by the service, and outlives its calls.
class MethodHandler final : public ::trpc::RpcMethodHandlerInterface {
 public:
  /// The user's method, its messages by their base class.
  using Run = std::function<::trpc::Status(const ::trpc::ServerContextPtr&,
                                           const google::protobuf::Message& request,
                                           google::protobuf::Message& response)>;

  MethodHandler(std::shared_ptr<pb::Method> method, Run run);

  void Execute(const ::trpc::ServerContextPtr& context, ::trpc::NoncontiguousBuffer&& request_bytes,
               ::trpc::NoncontiguousBuffer& response_bytes) noexcept override;
  using RpcMethodHandlerInterface::Execute;

  /// tRPC calls both when a call is over, in this order. Or only this one: when the handler answers
  /// later, with the response that it was given. So this one ends all.
  void DestroyReqObj(::trpc::ServerContext* context) override;
  void DestroyRspObj(::trpc::ServerContext*) override {}

 private:
  using RetCode = ::trpc::codec::ServerRetCode;

  void Serve(const ::trpc::ServerContextPtr& context, ::trpc::NoncontiguousBuffer&& request_bytes,
             ::trpc::NoncontiguousBuffer& response_bytes);
  bool Unpack(const ::trpc::ServerContextPtr& context, ::trpc::NoncontiguousBuffer& bytes);
  bool Read(const ::trpc::ServerContextPtr& context, ::trpc::NoncontiguousBuffer& bytes,
            ScopedCall& call);
  bool Answer(const ::trpc::ServerContextPtr& context, ScopedCall& call);
  void Write(const ::trpc::ServerContextPtr& context, ::trpc::NoncontiguousBuffer& bytes);

  const std::shared_ptr<pb::Method> method_;
  const Run run_;
};

}  // namespace harena::trpc
