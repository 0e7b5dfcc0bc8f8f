// How gRPC is made to parse a request onto a scope and within its budget.
#pragma once

#include <new>
#include <optional>

#include <grpcpp/impl/codegen/serialization_traits.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include "harena/adapters/grpc/hand_over.h"
#include "harena/adapters/grpc/method.h"
#include "harena/pb/parse.h"
#include "harena/scope/scope.h"

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
  Request* message = nullptr;     // null when there was no memory for one; then `refusal` says why
  Scope* scope = nullptr;         // likewise
  bool parse_onto_scope = false;  // false in mode heap
  bool frozen = false;     // the message is new, and nobody but the handler's const will see it
  bool malformed = false;  // the bytes are no Request, or a required field is missing
  std::optional<Refusal> refusal;
  mutable std::optional<RefusingReactor> refusing;  // for a handler that was refused memory

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
    if (slot.parse_onto_scope) return ParseOntoScope(buffer, slot);
    try {
      slot.malformed = !SerializationTraits<Request>::Deserialize(&buffer, slot.message).ok();
    } catch (const std::bad_alloc& exceeded) {
      slot.refusal = harena::RefusalOf(exceeded);
    }
  }

  static void ParseOntoScope(ByteBuffer& buffer, harena::grpc::RequestSlot<Request>& slot) {
    harena::pb::ParseResult result{.status = harena::pb::ParseStatus::kMalformed, .refusal = {}};
    ProtoBufferReader reader(&buffer);
    if (reader.status().ok()) {
      result = slot.frozen ? harena::pb::ParseFrozenInto(*slot.scope, reader, buffer.Length(),
                                                         *slot.message)
                           : harena::pb::Parse(*slot.scope, reader, buffer.Length(), *slot.message);
    }
    slot.malformed = result.status == harena::pb::ParseStatus::kMalformed;
    if (result.status == harena::pb::ParseStatus::kRefused) slot.refusal = result.refusal;
  }
};

}  // namespace grpc
