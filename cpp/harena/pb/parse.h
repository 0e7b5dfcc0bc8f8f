#pragma once

#include <cstddef>
#include <string_view>

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message_lite.h>

#include "harena/mem/budget.h"
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
/// budget: memory taken stays below `request_bytes_max` plus one page, whatever the input says.
/// String bodies that protobuf keeps on the heap are bounded by the wire and charged as such.
/// After a refusal the message may only end, with its scope: it was left half way through a change,
/// and protobuf's maps are then not even safe to Clear().
/// REQUIRES: `input` holds exactly `wire_bytes` bytes; otherwise the answer is kMalformed.
/// Never throws. Thread rule: the scope's thread.
ParseResult Parse(Scope& scope, google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes,
                  google::protobuf::MessageLite& message) noexcept;

/// The same for contiguous input.
ParseResult Parse(Scope& scope, std::string_view wire,
                  google::protobuf::MessageLite& message) noexcept;

}  // namespace harena::pb
