#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message_lite.h>

#include "harena/mem/budget.h"
#include "harena/pb/budget_frame.h"
#include "harena/pb/codec/access.h"
#include "harena/pb/message.h"
#include "harena/scope/scope.h"

namespace harena::pb {

enum class ParseStatus {
  kOk,
  kMalformed,  ///< Not a message of this type, or a required field is missing.
  kRefused,    ///< A budget or the system refused memory; ParseResult::refusal says which.
};

struct [[nodiscard]] ParseResult {
  ParseStatus status = ParseStatus::kOk;
  Refusal refusal;

  explicit operator bool() const noexcept { return status == ParseStatus::kOk; }
};

/// Parses `wire_bytes` bytes of `input` into `message`, which lives on `scope`, within the scope's
/// budget and its decode_limits(): memory taken stays below `request_bytes_max` plus one page,
/// whatever the input says. What protobuf keeps on the heap counts: string bodies, which the wire
/// bounds, beforehand; unknown fields, which are larger than their wire, as wire::HeapMeter finds
/// them, or as wire::Walker foresees them where nothing can be metered.
/// After a refusal the message may only end, with its scope: it was left half way through a change,
/// and protobuf's maps are then not even safe to Clear().
/// REQUIRES: `input` holds exactly `wire_bytes` bytes; otherwise the answer is kMalformed.
/// Never throws. Thread rule: the scope's thread.
ParseResult Parse(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes,
                  google::protobuf::MessageLite& message) noexcept;

/// The same for contiguous input.
ParseResult Parse(Scope& scope, std::string_view wire,
                  google::protobuf::MessageLite& message) noexcept;

/// What a message lacks that Parse() called kMalformed, as protobuf lists it: nothing when its wire
/// was bad and no required field is missing. Within limits it says no more than that something is:
/// protobuf names each field by its path, which may come to a hundred times the wire.
/// Thread rule: the scope's thread.
std::string MissingFields(Scope& scope, const google::protobuf::MessageLite& message);

/// Why a parse onto `scope` answered kMalformed: kRefused, with the refusal of depth_max, when the
/// same bytes nest deeper than the scope allows, and otherwise kMalformed. For callers that can
/// read their input once more; those who parse contiguous bytes are told without it. Never throws.
/// Thread rule: the scope's thread.
ParseResult ExplainMalformed(Scope& scope, google::protobuf::io::ZeroCopyInputStream& again,
                             size_t wire_bytes,
                             const google::protobuf::MessageLite& message) noexcept;

/// A message that can be read and not changed, and whether it came to be.
template <ProtobufMessage T>
struct [[nodiscard]] Frozen {
  const T* message = nullptr;  ///< Null unless `result` is kOk. Ends with its scope.
  ParseResult result;

  explicit operator bool() const noexcept { return message != nullptr; }
};

/// Parses a message that nobody will change, which is the fastest way: on a scope of mode `codec`,
/// and where T has a codec, its strings are bytes of the scope, without malloc and without
/// destructors. In other modes, and for other types, the message is an ordinary one.
///
/// It must not be changed, const_cast included: its strings would give memory to the heap that is
/// not the heap's. A copy of it, Thaw(), or MergeFrom() into another message may be.
/// Never throws. Thread rule and budget as of Parse().
template <ProtobufMessage T>
Frozen<T> ParseFrozen(Scope& scope, std::string_view wire) noexcept;
template <ProtobufMessage T>
Frozen<T> ParseFrozen(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input,
                      size_t wire_bytes) noexcept;

/// An ordinary copy of `message` on `scope`, to be changed. Throws BudgetExceeded.
template <ProtobufMessage T>
T* Thaw(Scope& scope, const T& message) {
  T* copy = scope.CreateMessage<T>();
  BudgetFrame frame(scope.budget());
  copy->MergeFrom(message);
  return copy;
}

/// For adapters, whose frameworks want the request object before its bytes: what ParseFrozen()
/// does, into `message`. `has_codec` is codec::HasCodec of its type. REQUIRES: `message` was made
/// by scope.CreateMessage() and never filled; whoever gets it gets it as const.
ParseResult ParseFrozenInto(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input,
                            size_t wire_bytes, google::protobuf::MessageLite& message,
                            bool has_codec) noexcept;
ParseResult ParseFrozenInto(Scope& scope, std::string_view wire,
                            google::protobuf::MessageLite& message, bool has_codec) noexcept;

// Implementation only below here.

namespace pb_internal {

template <ProtobufMessage T, typename ParseInto>
Frozen<T> MakeFrozen(Scope& scope, ParseInto parse_into) noexcept {
  try {
    T* message = scope.CreateMessage<T>();
    const ParseResult result = parse_into(*message);
    return {.message = result ? message : nullptr, .result = result};
  } catch (const BudgetExceeded& exceeded) {
    return {.result = {.status = ParseStatus::kRefused, .refusal = exceeded.refusal()}};
  }
}

}  // namespace pb_internal

template <ProtobufMessage T>
Frozen<T> ParseFrozen(Scope& scope, std::string_view wire) noexcept {
  return pb_internal::MakeFrozen<T>(
      scope, [&](T& message) { return ParseFrozenInto(scope, wire, message, codec::HasCodec<T>); });
}

template <ProtobufMessage T>
Frozen<T> ParseFrozen(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input,
                      size_t wire_bytes) noexcept {
  return pb_internal::MakeFrozen<T>(scope, [&](T& message) {
    return ParseFrozenInto(scope, input, wire_bytes, message, codec::HasCodec<T>);
  });
}

}  // namespace harena::pb
