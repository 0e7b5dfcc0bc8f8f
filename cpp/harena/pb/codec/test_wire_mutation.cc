#include "harena/pb/codec/test_wire_mutation.h"

#include <algorithm>
#include <cstdint>

#include "harena/pb/wire/test_wire.h"

namespace harena::pb::codec::test {
namespace {

using pb::test::Field;
using pb::test::Tag;
using pb::test::Varint;

bool ReadVarint(std::string_view wire, size_t& at, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at >= wire.size()) return false;
    const auto byte = static_cast<uint8_t>(wire[at++]);
    value |= shift < 64 ? uint64_t{byte & 0x7fu} << shift : 0;
    if (byte < 0x80) return true;
  }
  return false;
}

// The same value in more bytes than it needs.
std::string LongVarint(uint64_t value, size_t bytes) {
  std::string varint = Varint(value);
  while (varint.size() < bytes) {
    varint.back() = static_cast<char>(varint.back() | 0x80);
    varint += '\0';
  }
  return varint;
}

// Moves `at` behind a value of that type; `value` to where its content begins.
bool SkipValue(std::string_view wire, uint64_t tag, size_t& at, size_t& value, int depth) {
  uint64_t number;
  value = at;
  switch (tag & 7) {
    case 0:
      return ReadVarint(wire, at, number);
    case 1:
      at += 8;
      return at <= wire.size();
    case 2:
      if (!ReadVarint(wire, at, number) || number > wire.size() - at) return false;
      value = at;
      at += number;
      return true;
    case 3:
      while (depth > 0) {
        uint64_t inner;
        size_t ignored;
        if (!ReadVarint(wire, at, inner)) return false;
        if ((inner & 7) == 4) return inner == tag + 1;
        if (!SkipValue(wire, inner, at, ignored, depth - 1)) return false;
      }
      return false;
    case 5:
      at += 4;
      return at <= wire.size();
    default:
      return false;
  }
}

std::string RandomUnknown(Random& random) {
  const auto number = static_cast<uint32_t>(1 + (random() >> (35 + Below(random, 28))));
  switch (Below(random, 6)) {
    case 0:
      return Varint(number << 3) + LongVarint(random() >> Below(random, 64), 1 + Below(random, 10));
    case 1:
      return Varint(number << 3 | 1) + std::string(8, '\x5a');
    case 2:
      return Field(number, std::string(Below(random, 40), 'u'));
    case 3:
      return Varint(number << 3 | 3) + Field(1, "in a group") + Varint(number << 3 | 4);
    case 4:
      return Varint(number << 3 | 5) + std::string(4, '\xa5');
    default:
      return Varint(number << 3 | 6);
  }
}

std::string MutateBytes(std::string wire, Random& random) {
  const size_t at = Below(random, wire.size() + 1);
  switch (Below(random, 6)) {
    case 0:
      if (at < wire.size()) wire[at] = static_cast<char>(wire[at] ^ 1 << Below(random, 8));
      break;
    case 1:
      wire.insert(at, 1, static_cast<char>(random()));
      break;
    case 2:
      if (at < wire.size()) wire.erase(at, 1 + Below(random, 3));
      break;
    case 3:
      wire.resize(at);
      break;
    case 4:
      if (at < wire.size()) wire[at] = static_cast<char>(random());
      break;
    default:
      wire.insert(at, Varint(random() >> Below(random, 64)));
  }
  return wire;
}

std::string_view Of(std::string_view wire, const WireField& field) {
  return wire.substr(field.begin, field.end - field.begin);
}

// A new tag and, where the type has one, a new length before the same content.
std::string Rewrite(std::string_view wire, const WireField& field, uint64_t tag, Random& random) {
  const std::string content(wire.substr(field.value, field.end - field.value));
  std::string head = LongVarint(tag, OneIn(random, 3) ? 1 + Below(random, 6) : 1);
  if (field.wire_type() != 2) return head + content;
  switch (Below(random, 8)) {
    case 0:
      return head + Varint(content.size() + 1 - Below(random, 3)) + content;
    case 1:
      return head + Varint(random() >> Below(random, 64)) + content;
    case 2:
      return head + Varint((uint64_t{1} << 31) - Below(random, 20)) + content;
    case 3:
      return head + LongVarint(content.size(), 1 + Below(random, 10)) + content;
    default:
      return head + Varint(content.size()) + content;
  }
}

std::string MutateField(std::string_view wire, const WireField& field, Random& random, int depth);

std::string MutateFields(std::string_view wire, const std::vector<WireField>& fields,
                         Random& random, int depth) {
  const size_t index = Below(random, fields.size());
  const WireField& field = fields[index];
  std::string out(wire.substr(0, field.begin));
  const std::string_view one = Of(wire, field);
  const WireField& other = fields[Below(random, fields.size())];
  switch (Below(random, 9)) {
    case 0:  // twice
      out.append(one).append(one);
      break;
    case 1:  // another one instead
      out += Of(wire, other);
      break;
    case 2:  // another one before
      out.append(Of(wire, other)).append(one);
      break;
    case 3:  // gone
      break;
    case 4:
      out.append(RandomUnknown(random)).append(one);
      break;
    case 5: {  // the end of a group, or of nothing
      const auto end = OneIn(random, 2) ? Varint(random() >> 60) : Varint((field.tag & ~7u) | 4);
      out.append(one).append(end);
      break;
    }
    default:
      out += MutateField(wire, field, random, depth);
  }
  return out.append(wire.substr(field.end));
}

std::string MutateField(std::string_view wire, const WireField& field, Random& random, int depth) {
  const std::string_view content = wire.substr(field.value, field.end - field.value);
  if (field.wire_type() == 2 && depth > 0 && !OneIn(random, 3)) {
    const auto inner = SplitFields(content);
    std::string changed;
    if (inner && !inner->empty()) {
      changed = MutateFields(content, *inner, random, depth - 1);
    } else if (OneIn(random, 2)) {
      constexpr const char* kBad[] = {"\xc3", "\xed\xa0\x80", "\xff", "\xf4\x90\x80\x80",
                                      "\xc0\x80"};
      changed = std::string(content);
      changed.insert(Below(random, content.size() + 1), kBad[Below(random, 5)]);
    } else {
      changed = MutateBytes(std::string(content), random);
    }
    return Varint(field.tag) + Varint(changed.size()) + changed;
  }
  uint64_t tag = field.tag;
  if (OneIn(random, 3)) tag = (tag & ~uint64_t{7}) | Below(random, 8);
  if (OneIn(random, 4)) tag = (random() >> (35 + Below(random, 28))) << 3 | (tag & 7);
  return Rewrite(wire, field, tag, random);
}

}  // namespace

std::optional<std::vector<WireField>> SplitFields(std::string_view wire) {
  std::vector<WireField> fields;
  size_t at = 0;
  while (at < wire.size()) {
    WireField field{.begin = at};
    if (!ReadVarint(wire, at, field.tag) || field.tag >> 3 == 0 || field.tag >> 32 != 0 ||
        !SkipValue(wire, field.tag, at, field.value, 100)) {
      return std::nullopt;
    }
    field.end = at;
    fields.push_back(field);
  }
  return fields;
}

std::string Mutate(std::string_view wire, Random& random) {
  const auto fields = SplitFields(wire);
  if (!fields || fields->empty() || OneIn(random, 5)) return MutateBytes(std::string(wire), random);
  return MutateFields(wire, *fields, random, 8);
}

}  // namespace harena::pb::codec::test
