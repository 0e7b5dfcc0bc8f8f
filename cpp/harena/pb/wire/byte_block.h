// Which of 64 bytes are as large as asked: what varints are looked for with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace harena::pb::wire {

/// So many bytes are looked at at once.
inline constexpr size_t kBlockBytes = 64;
/// Bytes of a varint that are not its last one are at least this.
inline constexpr uint8_t kHighByte = 0x80;

/// Bit i of the result is whether data[i] is at least `least`, on machines that put the lowest byte
/// first. The multiplication gathers the highest bits of eight bytes in one.
/// Thread rule: any thread. REQUIRES: kBlockBytes can be read, and `least` is 1 to 0x80.
inline uint64_t AtLeastByWords(const char* data, uint8_t least) noexcept {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighBits = kOnes * kHighByte;
  const uint64_t carry = kOnes * static_cast<uint64_t>(kHighByte - least);
  uint64_t bits = 0;
  for (size_t i = 0; i < kBlockBytes / sizeof(uint64_t); ++i) {
    uint64_t word;
    std::memcpy(&word, data + sizeof word * i, sizeof word);
    const uint64_t found = (((word & ~kHighBits) + carry) | word) & kHighBits;
    bits |= ((found >> 7) * 0x0102040810204080) >> 56 << (8 * i);
  }
  return bits;
}

#if defined(__SSE2__)
/// The bits of four times 16 bytes, each of which `bits_of` tells.
template <typename BitsOf>
uint64_t BitsOfBlock(const char* data, BitsOf bits_of) noexcept {
  const auto part = [&](size_t i) -> uint64_t {
    const auto* const bytes = reinterpret_cast<const __m128i*>(data) + i;
    return static_cast<uint32_t>(_mm_movemask_epi8(bits_of(_mm_loadu_si128(bytes))));
  };
  return (part(0) | part(1) << 16) | (part(2) | part(3) << 16) << 32;
}
#endif

/// The same, as this machine does it best.
inline uint64_t AtLeast(const char* data, uint8_t least) noexcept {
#if defined(__SSE2__)
  const __m128i all = _mm_set1_epi8(static_cast<char>(least));
  return BitsOfBlock(
      data, [all](__m128i bytes) { return _mm_cmpeq_epi8(_mm_max_epu8(bytes, all), bytes); });
#else
  return AtLeastByWords(data, least);
#endif
}

/// AtLeast(data, kHighByte).
inline uint64_t HighBits(const char* data) noexcept {
#if defined(__SSE2__)
  return BitsOfBlock(data, [](__m128i bytes) { return bytes; });
#else
  return AtLeastByWords(data, kHighByte);
#endif
}

}  // namespace harena::pb::wire
