// What protobuf's own parser takes of the heap, where no hook of protobuf's sees it.
#pragma once

#include <cstddef>
#include <string_view>

#include <google/protobuf/descriptor.h>

#include "harena/scope/outside_charge.h"

namespace harena::pb::wire {

/// Counts what protobuf may take of the heap for a message of that type (null: of the lite runtime)
/// while it parses `wire`: strings, and, where anything is limited, unknown fields. What these may
/// take at most is counted where that is a small part of the limits; `counted_at_most` is what was
/// counted so before, for the same request, and the result is what is now. Else the wire is looked
/// through, which costs half a parse, and tells what it really is. `levels_max` is how many levels
/// of messages there may be. Throws BudgetExceeded. Thread rule: the scope's thread.
size_t ChargeHeap(OutsideCharge& outside, const google::protobuf::Descriptor* type,
                  std::string_view wire, int levels_max, size_t counted_at_most);

/// Whether a message of that type has more than `levels_max` levels. Throws std::bad_alloc.
bool NestsDeeper(const google::protobuf::Descriptor& type, std::string_view wire, int levels_max);

}  // namespace harena::pb::wire
