// How gRPC is made to parse a request onto a scope and within its budget.
#pragma once

#include <optional>

#include <grpcpp/impl/codegen/serialization_traits.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include "harena/adapters/grpc/hand_over.h"
#include "harena/adapters/grpc/method.h"
#include "harena/pb/call/call_messages.h"

namespace harena::grpc {

/// Answers a call with a status and nothing else.
class RefusingReactor final : public ::grpc::ServerUnaryReactor {
 public:
  explicit RefusingReactor(const ::grpc::Status& status) { Finish(status); }
  void OnDone() override {}
};

/// Stands where gRPC's handler expects the request type. gRPC parses a T through
/// SerializationTraits<T>, so a type of our own brings our own parsing along, without touching what
/// any other code of the program sees for the real message type.
template <typename Request>
struct RequestSlot : HandOver {
  pb::CallMessages* messages = nullptr;  // null when there was no memory; then `refusal` says why
  bool malformed = false;                // the bytes are no Request, or a required field is missing
  std::optional<Refusal> refusal;
  mutable std::optional<RefusingReactor> refusing;  // for a handler that was refused memory

  /// REQUIRES: there was memory for it.
  Request* message() const noexcept { return static_cast<Request*>(&messages->request()); }
  /// Whether the handler may have it.
  bool good() const noexcept { return !malformed && !refusal; }
};

}  // namespace harena::grpc

namespace grpc {

template <typename Request>
class SerializationTraits<harena::grpc::RequestSlot<Request>> {
 public:
  /// Always OK: a bad request goes on to the handler's place too, where it gets a status with a
  /// reason. gRPC itself would answer UNIMPLEMENTED without one.
  static Status Deserialize(ByteBuffer* buffer, harena::grpc::RequestSlot<Request>* slot) {
    if (slot->good()) Parse(*buffer, *slot);
    // gRPC forgets the buffer after this call; whoever parses it lets go of the wire bytes.
    buffer->Clear();
    slot->HandOn();
    return Status::OK;
  }

 private:
  static void Parse(ByteBuffer& buffer, harena::grpc::RequestSlot<Request>& slot) noexcept {
    harena::pb::ParseResult result{.status = harena::pb::ParseStatus::kMalformed, .refusal = {}};
    ProtoBufferReader reader(&buffer);
    if (reader.status().ok()) {
      result =
          slot.messages->Parse(reader, buffer.Length(), harena::pb::codec::ParserOf<Request>());
    }
    slot.malformed = result.status == harena::pb::ParseStatus::kMalformed;
    if (result.status == harena::pb::ParseStatus::kRefused) slot.refusal = result.refusal;
  }
};

}  // namespace grpc
