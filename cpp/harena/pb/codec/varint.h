// Varints, one at a time.
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

/// ReadVarint() for more than one byte.
const char* ReadLongVarint(const char* ptr, uint64_t* value) noexcept;

/// Reads a varint; null when it has more than ten bytes. REQUIRES: 16 bytes can be read, as
/// everywhere in protobuf's parse loops.
HARENA_INLINE const char* ReadVarint(const char* ptr, uint64_t* value) noexcept {
  const auto first = static_cast<uint8_t>(*ptr);
  if (HARENA_LIKELY(first < 0x80)) {
    *value = first;
    return ptr + 1;
  }
  return ReadLongVarint(ptr, value);
}

/// Reads the length of something; null when it is no length. As protobuf's ReadSize().
HARENA_INLINE const char* ReadLength(const char* ptr, int* length) noexcept {
  const auto first = static_cast<uint8_t>(*ptr);
  if (HARENA_LIKELY(first < 0x80)) {
    *length = first;
    return ptr + 1;
  }
  const auto second = static_cast<uint8_t>(ptr[1]);
  if (HARENA_LIKELY(second < 0x80)) {
    *length = (second << 7) + first - 0x80;
    return ptr + 2;
  }
  *length = static_cast<int>(google::protobuf::internal::ReadSize(&ptr));
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
