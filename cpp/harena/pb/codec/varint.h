// Varints, one at a time, and how values of fields are written.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <google/protobuf/parse_context.h>
#include <google/protobuf/wire_format_lite.h>

#include "harena/base/compiler.h"

namespace harena::pb::codec {

static_assert(std::endian::native == std::endian::little,
              "the codec's varints are for little-endian machines");

/// Bytes that a number takes at most.
inline constexpr int kVarintBytesMax = 10;

HARENA_INLINE size_t VarintBytes(uint64_t value) noexcept {
  return (static_cast<size_t>(std::bit_width(value | 1)) * 9 + 64) / 64;
}

/// A number, and where it ends: null when it has more than ten bytes.
struct VarintRead {
  const char* end;
  uint64_t value;
};
/// ReadVarint() for more than three bytes. What it gives back is in two registers.
VarintRead ReadLongVarint(const char* ptr) noexcept;

/// Reads a varint; null when it has more than ten bytes. REQUIRES: 16 bytes can be read.
HARENA_INLINE const char* ReadVarint(const char* ptr, uint64_t* value) noexcept {
  uint64_t bits = static_cast<uint8_t>(*ptr);
  if (HARENA_LIKELY(bits < 0x80)) {
    *value = bits;
    return ptr + 1;
  }
  const uint64_t second = static_cast<uint8_t>(ptr[1]);
  // Each byte takes the mark away that the one before it had.
  bits += (second - 1) << 7;
  if (second < 0x80) {
    *value = bits;
    return ptr + 2;
  }
  const uint64_t third = static_cast<uint8_t>(ptr[2]);
  bits += (third - 1) << 14;
  if (third < 0x80) {
    *value = bits;
    return ptr + 3;
  }
  const VarintRead read = ReadLongVarint(ptr);
  *value = read.value;
  return read.end;
}

/// Reads the length of something that has to end at `end` or before; null when it is no length, or
/// goes beyond. REQUIRES: 16 bytes can be read.
HARENA_INLINE const char* ReadLength(const char* ptr, const char* end, size_t* length) noexcept {
  size_t bytes = static_cast<uint8_t>(*ptr);
  if (HARENA_LIKELY(bytes < 0x80)) {
    ++ptr;
  } else if (const auto second = static_cast<uint8_t>(ptr[1]); HARENA_LIKELY(second < 0x80)) {
    bytes += (size_t{second} - 1) << 7;
    ptr += 2;
  } else {
    bytes = google::protobuf::internal::ReadSize(&ptr);
    if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
  }
  // `ptr` may be behind the end by now.
  if (HARENA_UNLIKELY(static_cast<ptrdiff_t>(bytes) > end - ptr)) return nullptr;
  *length = bytes;
  return ptr;
}

/// PutVarint() for any number.
uint8_t* PutLongVarint(uint8_t* to, uint64_t value) noexcept;

/// Writes a varint so that it ends at `to`; the bytes below it, eight in all, may be overwritten.
HARENA_INLINE uint8_t* PutVarint(uint8_t* to, uint64_t value) noexcept {
  if (HARENA_LIKELY(value < 0x80)) {
    *--to = static_cast<uint8_t>(value);
    return to;
  }
  return PutLongVarint(to, value);
}

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

/// How a varint becomes a value of a field.
enum class Varint { kPlain, kZigZag32, kZigZag64 };

template <typename T, Varint kKind>
HARENA_INLINE T FromVarint(uint64_t value) noexcept {
  using google::protobuf::internal::WireFormatLite;
  if constexpr (kKind == Varint::kZigZag32) {
    return WireFormatLite::ZigZagDecode32(static_cast<uint32_t>(value));
  } else if constexpr (kKind == Varint::kZigZag64) {
    return WireFormatLite::ZigZagDecode64(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else {
    return static_cast<T>(value);
  }
}

/// The varint of a value of one of protobuf's types.
template <google::protobuf::internal::WireFormatLite::FieldType kType, typename T>
HARENA_INLINE uint64_t ToVarint(T value) noexcept {
  using W = google::protobuf::internal::WireFormatLite;
  if constexpr (kType == W::TYPE_SINT32) {
    return W::ZigZagEncode32(value);
  } else if constexpr (kType == W::TYPE_SINT64) {
    return W::ZigZagEncode64(value);
  } else if constexpr (kType == W::TYPE_INT32 || kType == W::TYPE_ENUM) {
    // Negative numbers take ten bytes.
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  } else {
    return static_cast<uint64_t>(value);
  }
}

/// A tag, which the compiler knows.
HARENA_INLINE uint8_t* PutTag(uint8_t* to, uint32_t tag) noexcept {
  if (tag < 1 << 7) {
    *--to = static_cast<uint8_t>(tag);
    return to;
  }
  if (tag < 1 << 14) {
    *--to = static_cast<uint8_t>(tag >> 7);
    *--to = static_cast<uint8_t>(tag | 0x80);
    return to;
  }
  return PutLongVarint(to, tag);
}

}  // namespace harena::pb::codec
