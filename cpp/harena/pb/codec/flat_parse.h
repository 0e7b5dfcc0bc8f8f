// One message, from bytes in any number of pieces to the message.
#pragma once

#include <cstddef>

#include <google/protobuf/message_lite.h>

#include "harena/pb/codec/access.h"
#include "harena/pb/codec/parser.h"

#if HARENA_CODEC
namespace harena::pb::codec {

/// What came of it.
struct FlatResult {
  bool ok = false;
  /// The wire nests deeper than it may.
  bool too_deep = false;
  /// Only a look at the whole message can tell whether a required field is missing.
  bool required_in_doubt = false;
};

/// Gathers `wire_bytes` bytes in one piece and has `type` parse them into `message`, which is empty
/// and stands on `arena`. `copy(state, to)` brings the bytes; false ends the parse. Frozen messages
/// with strings get their wire in the scope; the others' is gone when this returns.
/// Throws BudgetExceeded, and what `copy` throws. Thread rule: the scope's thread.
FlatResult ParseFlat(google::protobuf::MessageLite& message, google::protobuf::Arena& arena,
                     const MessageParser& type, const Parser::Options& options, size_t wire_bytes,
                     bool (*copy)(void* state, char* to), void* state);

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
