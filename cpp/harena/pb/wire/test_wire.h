// Wire bytes for tests: what a client may send, friendly or not. Not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace harena::pb::test {

inline std::string Varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

enum WireType : uint32_t { kVarint = 0, kLengthDelimited = 2, kStartGroup = 3, kEndGroup = 4 };

inline std::string Tag(uint32_t field, WireType type) { return Varint(field << 3 | type); }

/// Field `field` holding `body`: a string, bytes, a sub-message or packed numbers.
inline std::string Field(uint32_t field, std::string_view body) {
  return Tag(field, kLengthDelimited) + Varint(body.size()) + std::string(body);
}

inline std::string Number(uint32_t field, uint64_t value) {
  return Tag(field, kVarint) + Varint(value);
}

inline std::string Repeat(std::string_view piece, size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (size_t i = 0; i < times; ++i) out += piece;
  return out;
}

/// `0a 00` again and again: 200 KB of wire that ask for 100,000 messages of 300 fields in a
/// WideList.
inline std::string WideBomb(size_t messages = 100'000) {
  return Repeat(std::string_view("\x0a\x00", 2), messages);
}

/// A message that ends before the input does, in the two pieces in which a network may deliver it.
/// `end` is what ends it: tag 0, or '\x0c', the end of a group that never began.
inline std::pair<std::string, std::string> EndsEarly(char end) {
  return {Field(1, std::string(30, 'a')) + std::string(3, end), std::string(40, 'b')};
}

}  // namespace harena::pb::test
