#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harena/base/compiler.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace harena {

/// Sixteen bytes on their way from one place to another, looked at for bytes above ASCII.
class Copy16 {
 public:
#if defined(__SSE2__)
  HARENA_INLINE void Copy(char* to, const char* from) noexcept {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    seen_ = _mm_or_si128(seen_, bytes);
  }
  HARENA_INLINE bool IsAscii() const noexcept { return _mm_movemask_epi8(seen_) == 0; }

 private:
  __m128i seen_ = _mm_setzero_si128();
#else
  HARENA_INLINE void Copy(char* to, const char* from) noexcept {
    uint64_t bytes[2];
    std::memcpy(bytes, from, 16);
    std::memcpy(to, bytes, 16);
    seen_ |= bytes[0] | bytes[1];
  }
  HARENA_INLINE bool IsAscii() const noexcept { return (seen_ & 0x8080808080808080) == 0; }

 private:
  uint64_t seen_ = 0;
#endif
};

/// Copies sixteen bytes and says which of them are above ASCII: the first one by the lowest bit.
HARENA_INLINE unsigned Copy16AboveAscii(void* to, const void* from) noexcept {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(static_cast<const __m128i*>(from));
  _mm_storeu_si128(static_cast<__m128i*>(to), bytes);
  return static_cast<unsigned>(_mm_movemask_epi8(bytes));
#else
  std::memmove(to, from, 16);
  unsigned above = 0;
  for (int i = 0; i < 16; ++i) above |= (static_cast<const uint8_t*>(to)[i] >> 7U) << i;
  return above;
#endif
}

/// Copies sixteen bytes, of which only the first `bytes` count: without a branch, where whatever
/// lies behind these may be read and written. Tells whether these are all ASCII.
HARENA_INLINE bool CopyShortText(void* to, const void* from, size_t bytes) noexcept {
  return (Copy16AboveAscii(to, from) & ((1U << bytes) - 1)) == 0;
}

/// The same, the other way round: copies the sixteen bytes that end at `from_end`, of which only
/// the last `bytes` count, to where they end at `to_end`.
HARENA_INLINE bool CopyShortTextBackwards(void* to_end, const void* from_end,
                                          size_t bytes) noexcept {
  const unsigned above =
      Copy16AboveAscii(static_cast<char*>(to_end) - 16, static_cast<const char*>(from_end) - 16);
  return above >> (16 - bytes) == 0;
}

/// memcpy for what strings mostly are, without a call: two copies that overlap cover every length
/// between one and two of their sizes (as in the C libraries' own memcpy). Tells whether all of it
/// is ASCII.
HARENA_INLINE bool CopyText(void* to, const void* from, size_t bytes) noexcept {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  if (HARENA_LIKELY(bytes >= 16)) {
    Copy16 copy;
    const char* const in_last = in + bytes - 16;
    char* const out_last = out + bytes - 16;
    for (; in < in_last; in += 16, out += 16) copy.Copy(out, in);
    copy.Copy(out_last, in_last);
    return copy.IsAscii();
  }
  uint64_t first = 0;
  uint64_t last = 0;
  if (bytes >= 8) {
    std::memcpy(&first, in, 8);
    std::memcpy(&last, in + bytes - 8, 8);
    std::memcpy(out, &first, 8);
    std::memcpy(out + bytes - 8, &last, 8);
  } else if (bytes >= 4) {
    std::memcpy(&first, in, 4);
    std::memcpy(&last, in + bytes - 4, 4);
    std::memcpy(out, &first, 4);
    std::memcpy(out + bytes - 4, &last, 4);
  } else if (bytes != 0) {
    const auto middle = static_cast<uint8_t>(in[bytes / 2]);
    first = static_cast<uint8_t>(in[0]) | middle;
    last = static_cast<uint8_t>(in[bytes - 1]);
    const char begin = in[0];
    out[0] = begin;
    out[bytes / 2] = static_cast<char>(middle);
    out[bytes - 1] = static_cast<char>(last);
  }
  return ((first | last) & 0x8080808080808080) == 0;
}

/// memcpy for a whole request. The C library's own copies much by `rep movsb`, which some
/// processors do at a fraction of the speed (glibc's bug 30994: AMD from Zen 3 on, until 2.39).
inline void CopyMuch(char* to, const char* from, size_t bytes) noexcept {
#if defined(__SSE2__)
  for (; bytes >= 64; bytes -= 64, to += 64, from += 64) {
    const auto* const in = reinterpret_cast<const __m128i*>(from);
    auto* const out = reinterpret_cast<__m128i*>(to);
    const __m128i first = _mm_loadu_si128(in);
    const __m128i second = _mm_loadu_si128(in + 1);
    const __m128i third = _mm_loadu_si128(in + 2);
    const __m128i fourth = _mm_loadu_si128(in + 3);
    _mm_storeu_si128(out, first);
    _mm_storeu_si128(out + 1, second);
    _mm_storeu_si128(out + 2, third);
    _mm_storeu_si128(out + 3, fourth);
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace harena
