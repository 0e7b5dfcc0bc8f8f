#include "harena/adapters/trpc/method_handler.h"

#include <new>
#include <optional>
#include <utility>

#include <trpc/compressor/trpc_compressor.h>
#include <trpc/serialization/serialization_factory.h>
#include <trpc/util/log/logging.h>

#include "harena/adapters/trpc/bounded_compressor.h"

namespace harena::trpc {
namespace {

using google::protobuf::Message;
using ::trpc::NoncontiguousBuffer;
using ::trpc::ServerContext;
using ::trpc::ServerContextPtr;
using ::trpc::codec::ServerRetCode;

void Fail(ServerContext& context, ServerRetCode code, std::string message) {
  context.GetStatus().SetFrameworkRetCode(context.GetServerCodec()->GetProtocolRetCode(code));
  context.GetStatus().SetErrorMessage(std::move(message));
}

::trpc::serialization::Serialization* SerializationOf(uint8_t encoding) {
  return ::trpc::serialization::SerializationFactory::GetInstance()->Get(encoding);
}

bool PassesFilters(const ServerContextPtr& context, ::trpc::FilterPoint point) {
  return context->GetFilterController().RunMessageServerFilters(point, context) !=
         ::trpc::FilterStatus::REJECT;
}

}  // namespace

MethodHandler::MethodHandler(std::shared_ptr<pb::Method> method, Run run)
    : method_(std::move(method)), run_(std::move(run)) {}

// tRPC's frames above are noexcept.
void MethodHandler::Execute(const ServerContextPtr& context, NoncontiguousBuffer&& request_bytes,
                            NoncontiguousBuffer& response_bytes) noexcept {
  method_->CountRequest();
  try {
    Serve(context, std::move(request_bytes), response_bytes);
  } catch (const std::bad_alloc& exceeded) {
    Fail(*context, RetCode::LIMITED_ERROR, method_->Refuse(RefusalOf(exceeded)));
  }
}

void MethodHandler::Serve(const ServerContextPtr& context, NoncontiguousBuffer&& request_bytes,
                          NoncontiguousBuffer& response_bytes) {
  Refusal refusal;
  ScopedCall* call = pb::CallMessages::TryMakeOnScope<ScopedCall>(*method_, &refusal);
  if (call == nullptr) {
    return Fail(*context, RetCode::LIMITED_ERROR, method_->Refuse(refusal));
  }
  call->HangOn(*context);
  context->SetRpcMethodHandler(this);

  if (!Read(context, request_bytes, *call)) return;
  if (PassesFilters(context, ::trpc::FilterPoint::SERVER_PRE_RPC_INVOKE) &&
      !Answer(context, *call)) {
    return;
  }
  Write(context, response_bytes);
}

bool MethodHandler::Unpack(const ServerContextPtr& context, NoncontiguousBuffer& bytes) {
  const auto type = context->GetReqCompressType();
  const BoundedCompressor* const bounded =
      type == ::trpc::compressor::kNone ? nullptr : BoundedCompressor::Find(type);
  if (bounded == nullptr) {
    if (::trpc::compressor::DecompressIfNeeded(type, bytes)) return true;
  } else {
    NoncontiguousBuffer whole;
    const Decompressed how = bounded->Decompress(bytes, whole);
    if (how == Decompressed::kTooLong) {
      // What it would have taken nobody knows; it is counted as what it is.
      static_cast<void>(method_->Refuse({.limit = kRequestBytesMax}));
      Fail(*context, RetCode::LIMITED_ERROR,
           "harena: " + method_->name() + ": BoundDecompression: the body is longer than " +
               std::to_string(bounded->bytes_max()) + " bytes");
      return false;
    }
    bytes = std::move(whole);
    if (how == Decompressed::kWhole) return true;
  }
  Fail(*context, RetCode::DECODE_ERROR,
       "the request cannot be decompressed, compress_type " + std::to_string(type));
  return false;
}

bool MethodHandler::Read(const ServerContextPtr& context, NoncontiguousBuffer& bytes,
                         ScopedCall& call) {
  if (!Unpack(context, bytes)) return false;
  call.scope().CountWire(bytes.ByteSize());
  auto* serialization = SerializationOf(context->GetReqEncodeType());
  if (serialization != nullptr &&
      serialization->Deserialize(&bytes, ::trpc::serialization::kPbMessage, &call.request())) {
    bytes.Clear();
    return true;
  }
  if (const Refusal* refused = call.refused_parse()) {
    Fail(*context, RetCode::LIMITED_ERROR, method_->Refuse(*refused));
  } else {
    method_->CountMalformed();
    Fail(*context, RetCode::DECODE_ERROR,
         "the request cannot be deserialized, encode_type " +
             std::to_string(context->GetReqEncodeType()));
  }
  return false;
}

// False when the method answers later: by then the call may be over, on another thread.
bool MethodHandler::Answer(const ServerContextPtr& context, ScopedCall& call) {
  try {
    ::trpc::Status status =
        run_(context, call.request(), *static_cast<Message*>(context->GetResponseData()));
    if (!context->IsResponse()) return false;
    context->SetStatus(std::move(status));
  } catch (const std::bad_alloc& exceeded) {
    std::string what = method_->Refuse(RefusalOf(exceeded));
    if (!context->IsResponse()) {
      TRPC_FMT_WARN_EVERY_SECOND("{}, after SetResponse(false): the client gets no answer", what);
      return false;
    }
    context->SetStatus(::trpc::Status());
    Fail(*context, RetCode::LIMITED_ERROR, std::move(what));
  }
  return true;
}

void MethodHandler::Write(const ServerContextPtr& context, NoncontiguousBuffer& bytes) {
  static_cast<void>(PassesFilters(context, ::trpc::FilterPoint::SERVER_POST_RPC_INVOKE));
  if (!context->GetStatus().OK()) return;  // the call ends with its context
  auto* serialization = SerializationOf(context->GetRspEncodeType());
  if (serialization == nullptr || !serialization->Serialize(::trpc::serialization::kPbMessage,
                                                            context->GetResponseData(), &bytes)) {
    return Fail(*context, RetCode::ENCODE_ERROR,
                "the response cannot be serialized, encode_type " +
                    std::to_string(context->GetRspEncodeType()));
  }
  if (!::trpc::compressor::CompressIfNeeded(context->GetRspCompressType(), bytes,
                                            context->GetRspCompressLevel())) {
    return Fail(*context, RetCode::ENCODE_ERROR,
                "the response cannot be compressed, compress_type " +
                    std::to_string(context->GetRspCompressType()));
  }
  DestroyReqObj(context.Get());
  context->SetRpcMethodHandler(nullptr);
}

void MethodHandler::DestroyReqObj(ServerContext* context) {
  ScopedCall* call = ScopedCall::Of(*context);
  if (call == nullptr) return;
  call->TakeOff(*context);
  call->End();
}

}  // namespace harena::trpc
