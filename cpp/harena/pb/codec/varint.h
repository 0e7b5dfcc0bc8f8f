// Varints of many bytes without a loop: groups of seven bits are packed and unpacked in three steps
// of masks and shifts, eight bytes at once.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include <google/protobuf/parse_context.h>

#include "harena/base/compiler.h"

namespace harena::pb::codec {

static_assert(std::endian::native == std::endian::little,
              "the codec's varints are for little-endian machines");

HARENA_INLINE size_t VarintBytes(uint64_t value) noexcept {
  return (static_cast<size_t>(std::bit_width(value | 1)) * 9 + 64) / 64;
}

/// The number in a varint's `bits` bits, the last of them the highest bit of its last byte.
HARENA_INLINE uint64_t UnpackVarint(uint64_t bytes, int bits) noexcept {
  bytes &= ~uint64_t{0} >> (64 - bits);
  bytes &= 0x7f7f7f7f7f7f7f7f;
  bytes = (bytes & 0x007f007f007f007f) | ((bytes & 0x7f007f007f007f00) >> 1);
  bytes = (bytes & 0x00003fff00003fff) | ((bytes & 0x3fff00003fff0000) >> 2);
  return (bytes & 0x000000000fffffff) | ((bytes & 0x0fffffff00000000) >> 4);
}

/// Reads a varint; null when it has more than ten bytes. REQUIRES: 16 bytes can be read, as
/// everywhere in protobuf's parse loops.
HARENA_INLINE const char* ReadVarintInline(const char* ptr, uint64_t* value) noexcept {
  const auto first = static_cast<uint8_t>(*ptr);
  if (HARENA_LIKELY(first < 0x80)) {
    *value = first;
    return ptr + 1;
  }
  uint64_t bytes;
  std::memcpy(&bytes, ptr, sizeof bytes);
  const uint64_t ends = ~bytes & 0x8080808080808080;
  if (HARENA_UNLIKELY(ends == 0)) return google::protobuf::internal::VarintParse(ptr, value);
  const int last_bit = std::countr_zero(ends);
  *value = UnpackVarint(bytes, last_bit + 1);
  return ptr + last_bit / 8 + 1;
}

/// The same for code that there is much of.
const char* ReadLongVarint(const char* ptr, uint64_t* value) noexcept;
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

/// Writes a varint so that it ends at `to`; the bytes below it, eight in all, may be overwritten.
HARENA_INLINE uint8_t* PutVarintInline(uint8_t* to, uint64_t value) noexcept {
  if (HARENA_LIKELY(value < 0x80)) {
    *--to = static_cast<uint8_t>(value);
    return to;
  }
  if (HARENA_LIKELY(value < uint64_t{1} << 56)) {
    const size_t size = VarintBytes(value);
    uint64_t bytes = (value & 0x000000000fffffff) | ((value & 0x00fffffff0000000) << 4);
    bytes = (bytes & 0x00003fff00003fff) | ((bytes & 0x0fffc0000fffc000) << 2);
    bytes = (bytes & 0x007f007f007f007f) | ((bytes & 0x3f803f803f803f80) << 1);
    bytes |= 0x8080808080808080 & ((uint64_t{1} << (8 * (size - 1))) - 1);
    bytes <<= 8 * (8 - size);
    std::memcpy(to - 8, &bytes, 8);
    return to - size;
  }
  to -= VarintBytes(value);
  uint8_t* at = to;
  do {
    *at++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  } while (value >= 0x80);
  *at = static_cast<uint8_t>(value);
  return to;
}

/// The same for code that there is much of.
uint8_t* PutLongVarint(uint8_t* to, uint64_t value) noexcept;
HARENA_INLINE uint8_t* PutVarint(uint8_t* to, uint64_t value) noexcept {
  if (HARENA_LIKELY(value < 0x80)) {
    *--to = static_cast<uint8_t>(value);
    return to;
  }
  return PutLongVarint(to, value);
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
