// Which bytes of a wire are no ASCII, looked up in one pass, so that most texts need no look.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harena/base/compiler.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace harena::pb::codec {

static_assert(std::endian::native == std::endian::little,
              "the bits of a word of bytes are told in their order in memory");

/// One bit for each byte of a wire: the byte's highest.
/// Thread rule: one thread. Lifetime rule: the memory given to Fill() must outlive it.
class HighBits {
 public:
  /// What Fill() needs for that many bytes.
  static constexpr size_t BytesFor(size_t wire_bytes) noexcept { return wire_bytes / 8 + 32; }

  /// REQUIRES: `place` has BytesFor(wire_bytes); 64 bytes behind the wire can be read.
  void Fill(uint8_t* place, const char* wire, size_t wire_bytes) noexcept {
    bits_ = place;
    size_t i = 0;
    for (; i <= wire_bytes; i += 64) {
      const uint64_t word = Of64(wire + i);
      std::memcpy(place + i / 8, &word, 8);
    }
    // What Any() looks at beyond the last word.
    std::memset(place + i / 8, 0, 16);
  }

  /// Whether any of the `size` bytes from `at` on has it.
  HARENA_INLINE bool Any(size_t at, size_t size) const noexcept {
    const unsigned shift = at % 8;
    const uint8_t* const bits = bits_ + at / 8;
    if (HARENA_LIKELY(size <= 57)) {
      uint64_t word;
      std::memcpy(&word, bits, 8);
      // Shifted twice, as no shift may be 64.
      return ((word >> shift) << 1 << (63 - size)) != 0;
    }
    return AnyOfMany(bits, shift, size);
  }

 private:
  static bool AnyOfMany(const uint8_t* bits, unsigned shift, size_t size) noexcept {
    // The bits before the first byte, and those behind the last, do not count.
    uint64_t word;
    std::memcpy(&word, bits, 8);
    word = word >> shift << shift;
    size_t left = size + shift;
    while (left > 64) {
      if (word != 0) return true;
      bits += 8;
      left -= 64;
      std::memcpy(&word, bits, 8);
    }
    return word << (64 - left) != 0;
  }

#if defined(__SSE2__)
  HARENA_INLINE static uint64_t Of16(const char* bytes) noexcept {
    const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    return static_cast<uint32_t>(_mm_movemask_epi8(sixteen));
  }
#else
  HARENA_INLINE static uint64_t Of8(const char* bytes) noexcept {
    uint64_t eight;
    std::memcpy(&eight, bytes, 8);
    // The product gathers the highest bits of eight bytes in the highest byte (Hacker's Delight).
    return ((eight & 0x8080808080808080) >> 7) * 0x0102040810204080 >> 56;
  }
  HARENA_INLINE static uint64_t Of16(const char* bytes) noexcept {
    return Of8(bytes) | Of8(bytes + 8) << 8;
  }
#endif
  HARENA_INLINE static uint64_t Of64(const char* bytes) noexcept {
    return Of16(bytes) | Of16(bytes + 16) << 16 | Of16(bytes + 32) << 32 | Of16(bytes + 48) << 48;
  }

  const uint8_t* bits_ = nullptr;
};

}  // namespace harena::pb::codec
