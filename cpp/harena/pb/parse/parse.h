#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message_lite.h>

#include "harena/mem/budget.h"
#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/codec/access.h"
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

/// A message class, or a base class of them all: then protobuf's own parser finds out what it is.
template <typename T>
concept ParsableMessage = std::derived_from<T, google::protobuf::MessageLite>;

/// Parses `wire` into `message`, which lives on `scope`, within the scope's budget and its
/// decode_limits(): memory taken stays below `request_bytes_max` plus one page, whatever the input
/// says. docs/budgets.md has what is counted, for each mode and kind of type.
/// After a refusal the message may only end, with its scope: it was left half way through a change,
/// and protobuf's maps are then not even safe to Clear().
/// Never throws. Thread rule: the scope's thread.
template <ParsableMessage T>
ParseResult Parse(Scope& scope, std::string_view wire, T& message) noexcept;

/// The same for input in pieces. REQUIRES: `input` holds exactly `wire_bytes` bytes; otherwise the
/// answer is kMalformed.
template <ParsableMessage T>
ParseResult Parse(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes,
                  T& message) noexcept;

/// What a message lacks that Parse() called kMalformed, as protobuf lists it: nothing when its wire
/// was bad and no required field is missing. Within limits it says no more than that something is:
/// protobuf names each field by its path, which may come to a hundred times the wire.
/// Thread rule: the scope's thread.
std::string MissingFields(Scope& scope, const google::protobuf::MessageLite& message);

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
/// does, into `message`. REQUIRES: `message` was made by scope.CreateMessage() and never filled;
/// whoever gets it gets it as const.
template <ProtobufMessage T>
ParseResult ParseFrozenInto(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input,
                            size_t wire_bytes, T& message) noexcept;

// Implementation only below here.

namespace pb_internal {

// The bytes of a message: a stream's, or else those at `flat`.
struct Input {
  google::protobuf::io::ZeroCopyInputStream* stream = nullptr;
  const char* flat = nullptr;
  size_t bytes = 0;
};

enum class Result : bool { kOpen, kFrozen };

// `type` is null where protobuf's own parser is all there is.
ParseResult ParseInput(Scope& scope, const Input& input, google::protobuf::MessageLite& message,
                       const codec::MessageParser* type, Result result) noexcept;

template <ProtobufMessage T>
Frozen<T> MakeFrozen(Scope& scope, const Input& input) noexcept {
  try {
    T* message = scope.CreateMessage<T>();
    const ParseResult result =
        ParseInput(scope, input, *message, codec::ParserOf<T>(), Result::kFrozen);
    return {.message = result ? message : nullptr, .result = result};
  } catch (const BudgetExceeded& exceeded) {
    return {.result = {.status = ParseStatus::kRefused, .refusal = exceeded.refusal()}};
  }
}

}  // namespace pb_internal

template <ParsableMessage T>
ParseResult Parse(Scope& scope, std::string_view wire, T& message) noexcept {
  return pb_internal::ParseInput(scope, {.flat = wire.data(), .bytes = wire.size()}, message,
                                 codec::ParserOf<T>(), pb_internal::Result::kOpen);
}

template <ParsableMessage T>
ParseResult Parse(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes,
                  T& message) noexcept {
  return pb_internal::ParseInput(scope, {.stream = &input, .bytes = wire_bytes}, message,
                                 codec::ParserOf<T>(), pb_internal::Result::kOpen);
}

template <ProtobufMessage T>
Frozen<T> ParseFrozen(Scope& scope, std::string_view wire) noexcept {
  return pb_internal::MakeFrozen<T>(scope, {.flat = wire.data(), .bytes = wire.size()});
}

template <ProtobufMessage T>
Frozen<T> ParseFrozen(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input,
                      size_t wire_bytes) noexcept {
  return pb_internal::MakeFrozen<T>(scope, {.stream = &input, .bytes = wire_bytes});
}

template <ProtobufMessage T>
ParseResult ParseFrozenInto(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input,
                            size_t wire_bytes, T& message) noexcept {
  return pb_internal::ParseInput(scope, {.stream = &input, .bytes = wire_bytes}, message,
                                 codec::ParserOf<T>(), pb_internal::Result::kFrozen);
}

}  // namespace harena::pb
