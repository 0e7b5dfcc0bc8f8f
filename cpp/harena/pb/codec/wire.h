#pragma once

#include <cstdint>

#include <google/protobuf/wire_format_lite.h>

namespace harena::pb::codec {

/// How a field of that type is written when it is not packed. protobuf's own table, at compile
/// time.
constexpr google::protobuf::internal::WireFormatLite::WireType WireTypeOf(
    google::protobuf::internal::WireFormatLite::FieldType type) {
  using W = google::protobuf::internal::WireFormatLite;
  switch (type) {
    case W::TYPE_FIXED32:
    case W::TYPE_SFIXED32:
    case W::TYPE_FLOAT:
      return W::WIRETYPE_FIXED32;
    case W::TYPE_FIXED64:
    case W::TYPE_SFIXED64:
    case W::TYPE_DOUBLE:
      return W::WIRETYPE_FIXED64;
    case W::TYPE_STRING:
    case W::TYPE_BYTES:
    case W::TYPE_MESSAGE:
      return W::WIRETYPE_LENGTH_DELIMITED;
    case W::TYPE_GROUP:
      return W::WIRETYPE_START_GROUP;
    default:
      return W::WIRETYPE_VARINT;
  }
}

}  // namespace harena::pb::codec
