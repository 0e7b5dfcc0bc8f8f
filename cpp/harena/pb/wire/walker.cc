#include "harena/pb/wire/walker.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "harena/pb/layout/heap_costs.h"
#include "harena/pb/wire/heap_charge.h"

namespace harena::pb::wire {
namespace {

// A string too long for its own object takes room for 30 characters at least.
constexpr uint64_t kLocalMax = 15;
constexpr uint64_t kBufferBytesMin = 31;
// Of an entry of a map that is not just a key and a value: what the arena keeps of its key beside
// the map's own, in the entry and in a node that was made and thrown away.
constexpr size_t kKeysBeside = 2;

// One message and those in it.
class Walker {
 public:
  Walker(const char* at, int levels_max) noexcept : at_(at), levels_left_(levels_max) {}

  Walked Found(bool whole) const noexcept {
    Walked found = found_;
    found.heap_bytes += keys_passing_max_;
    found.whole = whole;
    return found;
  }

  // Up to `end`, or behind the end of the group of that number, unless that is 0. A null `schema`
  // is that of an unknown group. False when the rest is no wire, or too deep.
  bool WalkMessage(const Schema* schema, const Schema* outer, const char* end,
                   uint32_t group) noexcept;

 private:
  // How much there is of an entry of a map, as protobuf takes it in: a key and a value and nothing
  // else, in this order, or otherwise.
  enum class Entry : uint8_t { kEmpty, kKey, kKeyAndValue, kOther };
  struct Message {
    const Schema* schema;
    const Schema* outer;
    const char* end;
    Entry entry = Entry::kEmpty;
    size_t key_bytes = 0;  // of the keys' buffers, in an entry of a map

    bool is_entry() const noexcept { return schema != nullptr && !schema->keeps_unknown(); }
  };

  bool Varint(const char* end, int bytes_max, uint64_t* value) noexcept;
  bool Skip(const Message& message, size_t bytes) noexcept;
  bool WalkField(Message& message, uint32_t tag) noexcept;
  bool WalkLengthDelimited(Message& message, const FieldSchema* field) noexcept;
  bool WalkPackedEnums(const Message& message, const FieldSchema& field, const char* end) noexcept;
  void OnUnknown(const Message& message, size_t object_bytes) noexcept;
  void OnEnum(const Message& message, const FieldSchema& field, uint64_t value) noexcept;
  void OnEntryField(Message& entry, const FieldSchema* field, uint32_t number) noexcept;
  void OnKey(Message& entry, uint64_t bytes) noexcept;

  const char* at_;
  int levels_left_;
  Walked found_;
  // Keys of the entries that are being read, which protobuf holds once more until it has read them.
  size_t keys_passing_ = 0;
  size_t keys_passing_max_ = 0;
};

bool Walker::Varint(const char* end, int bytes_max, uint64_t* value) noexcept {
  uint64_t result = 0;
  for (int i = 0; i < bytes_max && at_ != end; ++i) {
    const auto byte = static_cast<uint8_t>(*at_++);
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

bool Walker::Skip(const Message& message, size_t bytes) noexcept {
  if (bytes > static_cast<size_t>(message.end - at_)) return false;
  at_ += bytes;
  return true;
}

void Walker::OnUnknown(const Message& message, size_t object_bytes) noexcept {
  if (!message.is_entry()) found_.heap_bytes += layout::kUnknownFieldBytes + object_bytes;
}

void Walker::OnEnum(const Message& message, const FieldSchema& field, uint64_t value) noexcept {
  if (field.closed_enum->FindValueByNumber(static_cast<int>(value)) != nullptr) return;
  // The whole entry of a map becomes a string.
  found_.heap_bytes +=
      layout::kUnknownFieldBytes + (message.is_entry() ? layout::kUnknownStringBytes : 0);
}

void Walker::OnEntryField(Message& entry, const FieldSchema* field, uint32_t number) noexcept {
  if (entry.entry == Entry::kOther) return;
  const bool validated = number == 2 && field != nullptr && field->closed_enum != nullptr;
  if (field != nullptr && !validated && number == static_cast<uint32_t>(entry.entry) + 1) {
    entry.entry = static_cast<Entry>(number);
    return;
  }
  entry.entry = Entry::kOther;
  found_.heap_bytes += kKeysBeside * entry.key_bytes;
}

void Walker::OnKey(Message& entry, uint64_t bytes) noexcept {
  if (bytes <= kLocalMax) return;
  const size_t buffer_bytes = std::max(bytes + 1, kBufferBytesMin);
  if (entry.entry == Entry::kOther) found_.heap_bytes += kKeysBeside * buffer_bytes;
  entry.key_bytes += buffer_bytes;
  keys_passing_ += buffer_bytes;
  keys_passing_max_ = std::max(keys_passing_max_, keys_passing_);
}

bool Walker::WalkPackedEnums(const Message& message, const FieldSchema& field,
                             const char* end) noexcept {
  while (at_ < end) {
    uint64_t value;
    if (!Varint(end, 10, &value)) return false;
    OnEnum(message, field, value);
  }
  return true;
}

bool Walker::WalkLengthDelimited(Message& message, const FieldSchema* field) noexcept {
  uint64_t bytes;
  if (!Varint(message.end, static_cast<int>(kLengthBytesMax), &bytes)) return false;
  if (bytes > static_cast<uint64_t>(message.end - at_)) return false;
  const char* const end = at_ + bytes;
  if (field == nullptr) {
    OnUnknown(message, layout::kUnknownStringBytes);
    // An item of a message set, which may be of any type.
    if (message.outer != nullptr && message.outer->message_set()) {
      found_.heap_bytes += layout::kBytesPerByte * bytes;
    }
    at_ = end;
    return true;
  }
  if (field->message != nullptr) return WalkMessage(field->message, message.schema, end, 0);
  if (field->closed_enum != nullptr) return WalkPackedEnums(message, *field, end);
  at_ = end;
  if (!field->text) return true;
  found_.heap_bytes += layout::kStringObjectBytes;
  if (message.is_entry() && field == message.schema->Find(1)) OnKey(message, bytes);
  // Tag and length are two bytes at least.
  if (bytes > kLocalMax && bytes + 2 < kBufferBytesMin) {
    found_.heap_bytes += kBufferBytesMin - bytes - 2;
  }
  return true;
}

bool Walker::WalkField(Message& message, uint32_t tag) noexcept {
  const uint32_t number = tag >> 3;
  const auto type = static_cast<uint8_t>(tag & 7);
  if (number == 0) return false;
  const FieldSchema* field = message.schema == nullptr ? nullptr : message.schema->Find(number);
  if (field != nullptr && !field->Accepts(type)) field = nullptr;
  if (message.is_entry()) OnEntryField(message, field, number);
  switch (type) {
    case kLengthDelimited:
      return WalkLengthDelimited(message, field);
    case kStartGroup:
      if (field == nullptr) OnUnknown(message, layout::kUnknownObjectBytes);
      return WalkMessage(field == nullptr ? nullptr : field->message, message.schema, message.end,
                         number);
    case kVarint: {
      uint64_t value;
      if (!Varint(message.end, 10, &value)) return false;
      if (field != nullptr && field->closed_enum != nullptr) OnEnum(message, *field, value);
      break;
    }
    case kFixed64:
      if (!Skip(message, 8)) return false;
      break;
    case kFixed32:
      if (!Skip(message, 4)) return false;
      break;
    default:
      return false;
  }
  if (field == nullptr) OnUnknown(message, 0);
  return true;
}

bool Walker::WalkMessage(const Schema* schema, const Schema* outer, const char* end,
                         uint32_t group) noexcept {
  if (levels_left_ == 0) {
    found_.too_deep = true;
    return false;
  }
  --levels_left_;
  Message message{.schema = schema, .outer = outer, .end = end};
  bool ended = false;
  while (!ended && at_ < end) {
    uint64_t tag;
    // protobuf drops the bits that are too many, too.
    if (!Varint(end, static_cast<int>(kTagBytesMax), &tag)) return false;
    ended = (tag & 7) == kEndGroup;
    if (ended ? static_cast<uint32_t>(tag) >> 3 != group
              : !WalkField(message, static_cast<uint32_t>(tag))) {
      return false;
    }
  }
  ++levels_left_;
  if (message.entry == Entry::kKey) found_.heap_bytes += kKeysBeside * message.key_bytes;
  keys_passing_ -= message.key_bytes;
  return ended == (group != 0);
}

}  // namespace

Walked Walk(const Schema& schema, std::string_view wire, int levels_max) noexcept {
  Walker walker(wire.data(), levels_max);
  const bool whole = walker.WalkMessage(&schema, nullptr, wire.data() + wire.size(), 0);
  return walker.Found(whole);
}

}  // namespace harena::pb::wire
