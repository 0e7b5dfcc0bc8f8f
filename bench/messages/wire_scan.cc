#include "bench/messages/wire_scan.h"

#include <bit>
#include <cstddef>
#include <cstring>

#include "bench/messages/utf8.h"

namespace harena::bench {
namespace {

// As protobuf's parsers have it.
constexpr int kDepthMax = 100;
constexpr int kVarintBytesMax = 10;

using Byte = uint8_t;

// Each reader returns the byte after what it read, or null if that is malformed or goes beyond
// `end`.

const Byte* SkipVarint(const Byte* at, const Byte* end) {
  if (at < end && *at < 0x80) return at + 1;
  const Byte* last = end - at > kVarintBytesMax ? at + kVarintBytesMax : end;
  while (at < last) {
    if (*at++ < 0x80) return at;
  }
  return nullptr;
}

const Byte* Skip(ptrdiff_t bytes, const Byte* at, const Byte* end) {
  return end - at >= bytes ? at + bytes : nullptr;
}

// Up to five bytes; what goes beyond 32 bits is dropped from a tag and wrong in a length.
const Byte* ReadFive(const Byte* at, const Byte* end, uint64_t* value) {
  uint64_t sum = 0;
  for (int shift = 0; shift < 35 && at < end; shift += 7) {
    const Byte byte = *at++;
    sum |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      *value = sum;
      return at;
    }
  }
  return nullptr;
}

inline const Byte* ReadTag(const Byte* at, const Byte* end, uint32_t* tag) {
  if (*at < 0x80) {
    *tag = *at;
    return at + 1;
  }
  uint64_t value = 0;
  at = ReadFive(at, end, &value);
  *tag = static_cast<uint32_t>(value);
  return at;
}

// Returns the start of a length-delimited body, which then ends at `*body_end` and not beyond
// `end`.
inline const Byte* ReadLength(const Byte* at, const Byte* end, const Byte** body_end) {
  uint64_t bytes = 0;
  if (at < end && *at < 0x80) {
    bytes = *at++;
  } else {
    at = ReadFive(at, end, &bytes);
    if (at == nullptr) return nullptr;
  }
  if (bytes > static_cast<uint64_t>(end - at)) return nullptr;
  *body_end = at + bytes;
  return at;
}

// Only the last byte of a varint is below 0x80, so a run of them is good if it ends with such a
// byte and has never too many others in a row.
bool VarintsAreGood(const Byte* at, const Byte* end) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  if (at < end && end[-1] >= 0x80) return false;
  int in_a_row = 0;
  for (; end - at >= 8; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const uint64_t last_bytes = ~word & kHighBits;  // little-endian: the first byte is the lowest
    in_a_row += std::countr_zero(last_bytes) / 8;
    if (in_a_row >= kVarintBytesMax) return false;
    if (last_bytes != 0) in_a_row = std::countl_zero(last_bytes) / 8;
  }
  for (; at < end; ++at) {
    in_a_row = *at < 0x80 ? 0 : in_a_row + 1;
    if (in_a_row >= kVarintBytesMax) return false;
  }
  return true;
}

// Reads fields up to `end`, or up to and including the tag `end_tag` when that is a group's.
const Byte* ScanFields(const WireTable& table, const Byte* at, const Byte* end, int depth,
                       uint32_t end_tag);

const Byte* ScanGroup(const WireTable& table, uint32_t tag, const Byte* at, const Byte* end,
                      int depth) {
  if (depth == 0) return nullptr;
  return ScanFields(table, at, end, depth - 1, (tag & ~7u) | kWireEndGroup);
}

const Byte* SkipUnknown(uint32_t tag, const Byte* at, const Byte* end, int depth) {
  static const WireTable kNoFields;
  switch (tag & 7) {
    case kWireVarint:
      return SkipVarint(at, end);
    case kWireFixed64:
      return Skip(8, at, end);
    case kWireFixed32:
      return Skip(4, at, end);
    case kWireLength:
      return ReadLength(at, end, &end) != nullptr ? end : nullptr;
    case kWireStartGroup:
      return ScanGroup(kNoFields, tag, at, end, depth);
    default:
      return nullptr;
  }
}

// The body of a length-delimited field of a known kind.
inline bool BodyIsGood(const WireTable::Entry& entry, const Byte* at, const Byte* end, int depth) {
  switch (entry.kind) {
    case WireKind::kText:
      return IsUtf8(at, end);
    case WireKind::kMessage:
      return depth > 0 && ScanFields(*entry.child, at, end, depth - 1, 0) != nullptr;
    case WireKind::kPackedVarint:
      return VarintsAreGood(at, end);
    case WireKind::kPackedFixed64:
      return (end - at) % 8 == 0;
    case WireKind::kPackedFixed32:
      return (end - at) % 4 == 0;
    default:
      return true;
  }
}

inline const Byte* ScanField(const WireTable::Entry& entry, uint32_t tag, const Byte* at,
                             const Byte* end, int depth) {
  switch (entry.kind) {
    case WireKind::kUnknown:
      return SkipUnknown(tag, at, end, depth);
    case WireKind::kVarint:
      return SkipVarint(at, end);
    case WireKind::kFixed64:
      return Skip(8, at, end);
    case WireKind::kFixed32:
      return Skip(4, at, end);
    case WireKind::kGroup:
      return ScanGroup(*entry.child, tag, at, end, depth);
    default:
      break;
  }
  const Byte* body_end = nullptr;
  at = ReadLength(at, end, &body_end);
  return at != nullptr && BodyIsGood(entry, at, body_end, depth) ? body_end : nullptr;
}

const Byte* ScanFields(const WireTable& table, const Byte* at, const Byte* end, int depth,
                       uint32_t end_tag) {
  uint64_t seen = 0;
  while (at < end) {
    uint32_t tag = 0;
    at = ReadTag(at, end, &tag);
    if (at == nullptr) return nullptr;
    const WireTable::Entry& entry = table.Find(tag);
    // No table has these, so the question is asked of unknown tags alone.
    if (entry.kind == WireKind::kUnknown && ((tag & 7) == kWireEndGroup || tag < 8)) {
      const bool ends = tag == end_tag && tag >= 8 && (table.required & ~seen) == 0;
      return ends ? at : nullptr;
    }
    at = ScanField(entry, tag, at, end, depth);
    if (at == nullptr) return nullptr;
    seen |= entry.required_bit;
  }
  return end_tag == 0 && (table.required & ~seen) == 0 ? at : nullptr;
}

}  // namespace

bool WireScan::Accepts(std::string_view wire) const noexcept {
  const auto* begin = reinterpret_cast<const Byte*>(wire.data());
  return ScanFields(tables_.root(), begin, begin + wire.size(), kDepthMax, 0) != nullptr;
}

}  // namespace harena::bench
