#include "harena/pb/codec/read.h"

#include <cstring>

#include "harena/pb/arena/string_buffers.h"
#include "harena/pb/arena/string_slabs.h"
#include "harena/pb/codec/read_map.h"
#include "harena/pb/layout/heap_costs.h"

#if HARENA_CODEC
namespace harena::pb::codec {
namespace {

// What stands in front of the next element.
struct NextTag {
  explicit NextTag(uint32_t tag) noexcept {
    if (tag < 1 << 7) {
      bytes = 1;
      mask = 0xff;
      wire = tag;
    } else if (tag < 1 << 14) {
      bytes = 2;
      mask = 0xffff;
      wire = (tag & 0x7f) | 0x80 | tag >> 7 << 8;
    }
  }
  HARENA_INLINE bool IsAt(const char* ptr) const noexcept {
    uint16_t there;
    std::memcpy(&there, ptr, sizeof there);
    return (there & mask) == wire;
  }

  // No tag of more bytes is looked for.
  int bytes = 0;
  uint32_t mask = 0;
  uint32_t wire = 1;
};

// What a string of an open message takes of the heap.
void ChargeString(Parser& parser, std::string_view text) {
  const bool by_protobuf = parser.strings() == nullptr;
  parser.Charge(StringBufferBytes(text.size()) + (by_protobuf ? layout::kStringObjectBytes : 0));
}

void AddOpenString(Parser& parser, RepeatedPtrField<std::string>& field, std::string_view text) {
  ChargeString(parser, text);
  if (parser.strings() != nullptr && !layout::HasCleared(field)) {
    if (std::string* const string = parser.strings()->TryMake(text)) {
      field.UnsafeArenaAddAllocated(string);
      return;
    }
  }
  field.Add()->assign(text);
}

}  // namespace

bool CheckUtf8(std::string_view text, const char* utf8_name) {
  using google::protobuf::internal::WireFormatLite;
  return utf8_name == nullptr ||
         WireFormatLite::VerifyUtf8String(text.data(), static_cast<int>(text.size()),
                                          WireFormatLite::PARSE, utf8_name);
}

bool SetOpenString(Parser& parser, ArenaStringPtr& field, std::string_view text,
                   const char* utf8_name) {
  ChargeString(parser, text);
  if (!field.IsDefault()) {
    field.UnsafeMutablePointer()->assign(text);
  } else if (std::string* const string =
                 parser.strings() == nullptr ? nullptr : parser.strings()->TryMake(text)) {
    google::protobuf::internal::TaggedStringPtr tagged;
    tagged.SetMutableArena(string);
    field.UnsafeSetTaggedPointer(tagged);
  } else {
    // Not by its bytes, of which protobuf would make a second string on the way.
    field.Set(std::string(text), parser.arena());
  }
  return CheckUtf8(text, utf8_name);
}

const char* ReadRepeatedString(const char* ptr, const char* end, Parser& parser,
                               RepeatedPtrField<std::string>& field, const char* utf8_name,
                               uint32_t tag) {
  const NextTag next(tag);
  const size_t first = parser.pending_count();
  for (;;) {
    size_t size;
    ptr = ReadLength(ptr, end, &size);
    if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
    if (HARENA_LIKELY(parser.frozen())) {
      parser.Push(parser.NewRawString(ptr, size));
    } else {
      AddOpenString(parser, field, {ptr, size});
    }
    if (HARENA_UNLIKELY(!CheckUtf8InWire(parser, ptr, size, utf8_name))) return nullptr;
    ptr += size;
    if (ptr >= end || !next.IsAt(ptr)) break;
    ptr += next.bytes;
  }
  if (HARENA_LIKELY(parser.frozen())) AppendPending(parser, field, first);
  return ptr;
}

void SetMapString(Parser& parser, std::string& value, std::string_view text) {
  if (!parser.frozen()) {
    parser.Charge(StringBufferBytes(text.size()));
    value.assign(text);
    return;
  }
  if (text.size() <= layout::RawString::kLocalMax) {
    layout::RawString::WriteLocal(&value, text.data(), text.size());
    return;
  }
  // protobuf will run the destructor of a value. Cleanups run last made first, so this one makes it
  // the empty string before; and it is there before there is something to make empty.
  parser.arena()->OwnCustomDestructor(&value, &layout::RawString::Defuse);
  parser.PointInto(&value, text.data(), text.size());
}

const char* ReadPackedClosedEnum(const char* ptr, const char* end, Parser& parser,
                                 RepeatedField<int>& field, bool (*is_valid)(int), int number,
                                 google::protobuf::internal::InternalMetadata& metadata) {
  size_t size;
  ptr = ReadLength(ptr, end, &size);
  if (ptr == nullptr) return nullptr;
  end = ptr + size;
  while (ptr < end) {
    uint64_t value;
    ptr = ReadVarint(ptr, &value);
    if (ptr == nullptr) return nullptr;
    if (is_valid(static_cast<int>(value))) {
      field.Add(static_cast<int>(value));
    } else {
      AddUnknownEnum(parser, number, value, metadata);
    }
  }
  return ptr == end ? ptr : nullptr;
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
