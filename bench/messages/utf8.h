#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace harena::bench {

/// Whether [at, end) is UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. One
/// sequence at a time; IsUtf8() is the quick way in.
inline bool IsUtf8Slowly(const uint8_t* at, const uint8_t* end) noexcept {
  while (at < end) {
    const uint8_t lead = *at++;
    if (lead < 0x80) continue;
    // How many bytes follow, and where the first of them may lie.
    int follow = 0;
    uint8_t low = 0x80, high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
      follow = 1;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      follow = 2;
      if (lead == 0xe0) low = 0xa0;
      if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      follow = 3;
      if (lead == 0xf0) low = 0x90;
      if (lead == 0xf4) high = 0x8f;
    } else {
      return false;
    }
    if (end - at < follow || *at < low || *at > high) return false;
    for (int i = 1; i < follow; ++i) {
      if ((at[i] & 0xc0) != 0x80) return false;
    }
    at += follow;
  }
  return true;
}

/// The same, with eight ASCII bytes at a time first.
inline bool IsUtf8(const uint8_t* at, const uint8_t* end) noexcept {
  const auto load = [](const uint8_t* from) {
    uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
  };
  if (end - at < 8) return IsUtf8Slowly(at, end);
  uint64_t high_bits = load(end - 8);  // overlaps the last word of the loop
  for (const uint8_t* word = at; end - word > 8; word += 8) high_bits |= load(word);
  return (high_bits & 0x8080808080808080) == 0 || IsUtf8Slowly(at, end);
}

}  // namespace harena::bench
