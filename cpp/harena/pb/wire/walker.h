// A look through a message's wire before protobuf gets it.
#pragma once

#include <cstddef>
#include <string_view>

#include "harena/pb/wire/schema.h"

namespace harena::pb::wire {

/// What Walk() found.
struct Walked {
  /// Bytes of the heap beyond the wire's own: what protobuf's vectors and objects for unknown
  /// fields take, growth included, how much longer than its text a string's buffer is, and how
  /// often more than once the key of a map is there. Up to where the wire ends or is none.
  size_t heap_bytes = 0;
  /// Whether all of it is wire, of no more levels than there may be.
  bool whole = false;
  /// Whether there are more levels.
  bool too_deep = false;
};

/// Goes through a message of at most `levels_max` levels, itself included. Every byte is looked at
/// once, however the message nests. Thread rule: any thread.
Walked Walk(const Schema& schema, std::string_view wire, int levels_max) noexcept;

}  // namespace harena::pb::wire
