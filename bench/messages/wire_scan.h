#pragma once

#include <string_view>

#include <google/protobuf/descriptor.h>

#include "bench/messages/wire_table.h"

namespace harena::bench {

/// The least that a safe parser of one message type has to do: walks the wire field by field,
/// checks every tag, length, varint, end of a group, nesting depth, UTF-8 where the schema wants it
/// and required fields, and builds nothing. A bound for the parse phase.
///
/// Its verdict is protobuf's ParseFromArray's, but for one thing: required fields are looked for in
/// each part of a message that comes in several parts, and not in what the parts make together.
/// Thread rule: immutable after construction, so any thread.
class WireScan {
 public:
  /// Extensions that `type`'s pool knows by now are checked, later ones are unknown fields.
  /// REQUIRES: as WireTables. Throws std::invalid_argument otherwise.
  explicit WireScan(const google::protobuf::Descriptor* type) : tables_(type) {}

  /// Whether `wire` is a message of the type.
  bool Accepts(std::string_view wire) const noexcept;

 private:
  const WireTables tables_;
};

}  // namespace harena::bench
