// Wire bytes that are nearly right. Not installed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harena/pb/codec/test_random_message.h"

namespace harena::pb::codec::test {

/// One field of a message's wire.
struct WireField {
  uint64_t tag = 0;
  size_t begin = 0;  ///< Of the tag.
  size_t value = 0;  ///< Behind the tag, and behind the length where there is one.
  size_t end = 0;

  uint32_t wire_type() const { return tag & 7; }
};

/// The fields of `wire` on the top level, or nullopt when it is not a sequence of fields.
std::optional<std::vector<WireField>> SplitFields(std::string_view wire);

/// `wire` changed once somewhere: a bit, a byte, a piece; a field copied, moved, dropped, given
/// another wire type, number, length or a longer encoding; an unknown field; the end of a group
/// that never began; a string that is not UTF-8. Goes down into fields that look like messages and
/// mends their lengths, mostly.
std::string Mutate(std::string_view wire, Random& random);

}  // namespace harena::pb::codec::test
