// How gRPC is made to parse a request onto a scope and within its budget.
#pragma once

#include <optional>

#include <grpcpp/impl/codegen/serialization_traits.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/status.h>

#include "harena/adapters/grpc/hand_over.h"
#include "harena/adapters/grpc/method.h"
#include "harena/pb/parse.h"
#include "harena/scope/scope.h"

namespace harena::grpc {

/// Stands where gRPC's handler expects the request type. gRPC parses a T through
/// SerializationTraits<T>, so a type of our own brings our own parsing along, without touching what
/// any other code of the program sees for the real message type.
template <typename Request>
struct RequestSlot : HandOver {
  Request* message = nullptr;
  Scope* scope = nullptr;         // null when there was no memory for one; then `refusal` says why
  bool parse_onto_scope = false;  // false in mode heap
  bool frozen = false;  // the message is new, and nobody but the handler's const will see it
  Method* method = nullptr;
  std::optional<Refusal> refusal;
};

}  // namespace harena::grpc

namespace grpc {

template <typename Request>
class SerializationTraits<harena::grpc::RequestSlot<Request>> {
 public:
  static Status Deserialize(ByteBuffer* buffer, harena::grpc::RequestSlot<Request>* slot) {
    Status status = DeserializeInto(buffer, slot);
    if (!status.ok()) slot->method->CountMalformed();
    slot->HandOn();
    return status;
  }

 private:
  static Status DeserializeInto(ByteBuffer* buffer, harena::grpc::RequestSlot<Request>* slot) {
    if (slot->refusal) {
      // Not parsed, but it still reaches the handler's place, which answers it.
      buffer->Clear();
      return Status::OK;
    }
    return slot->parse_onto_scope
               ? ParseOntoScope(*buffer, *slot)
               : SerializationTraits<Request>::Deserialize(buffer, slot->message);
  }

  static Status ParseOntoScope(ByteBuffer& buffer, harena::grpc::RequestSlot<Request>& slot) {
    harena::pb::ParseResult result;
    {
      ProtoBufferReader reader(&buffer);
      if (!reader.status().ok()) return reader.status();
      result = slot.frozen ? harena::pb::ParseFrozenInto(*slot.scope, reader, buffer.Length(),
                                                         *slot.message,
                                                         harena::pb::codec::HasCodec<Request>)
                           : harena::pb::Parse(*slot.scope, reader, buffer.Length(), *slot.message);
    }
    if (result.status == harena::pb::ParseStatus::kMalformed &&
        slot.scope->decode_limits().depth_max != 0) {
      ProtoBufferReader again(&buffer);
      result = harena::pb::ExplainMalformed(*slot.scope, again, buffer.Length(), *slot.message);
    }
    // gRPC forgets the buffer after this call; whoever parses it lets go of the wire bytes.
    buffer.Clear();
    if (result.status == harena::pb::ParseStatus::kMalformed) {
      return {StatusCode::INTERNAL, harena::pb::MissingFields(*slot.scope, *slot.message)};
    }
    if (result.status == harena::pb::ParseStatus::kRefused) slot.refusal = result.refusal;
    return Status::OK;
  }
};

}  // namespace grpc
