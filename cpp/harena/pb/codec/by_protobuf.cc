#include "harena/pb/codec/by_protobuf.h"

#include <string>
#include <string_view>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "harena/pb/arena/string_buffers.h"
#include "harena/pb/codec/varint.h"
#include "harena/pb/layout/heap_costs.h"
#include "harena/pb/wire/heap_charge.h"

#if HARENA_CODEC
namespace harena::pb::codec {
namespace {

using google::protobuf::UnknownFieldSet;
using google::protobuf::internal::ReadTag;
using google::protobuf::internal::UnalignedLoad;
using google::protobuf::internal::WireFormatLite;

// Goes through a group behind its start tag: `read(tag, ptr)` reads the field behind each tag.
// Behind the end tag, which stands at `*body_end`; null when there is none, or on bad input.
template <typename Read>
const char* ReadGroupFields(uint32_t tag, const char* ptr, const char* end, Parser& parser,
                            const char** body_end, Read read) {
  if (!parser.Enter()) return nullptr;
  while (ptr < end) {
    *body_end = ptr;
    uint32_t inner;
    ptr = ReadTag(ptr, &inner);
    if (ptr == nullptr) return nullptr;
    if (EndsMessage(inner)) {
      parser.Leave();
      return inner == tag + 1 && ptr <= end ? ptr : nullptr;
    }
    ptr = read(inner, ptr);
    if (ptr == nullptr) return nullptr;
  }
  return nullptr;
}

const char* ReadUnknownInto(uint32_t tag, const char* ptr, const char* end, Parser& parser,
                            UnknownFieldSet& set) {
  const int number = WireFormatLite::GetTagFieldNumber(tag);
  if (number == 0) return nullptr;
  parser.Charge(layout::kUnknownFieldBytes);
  switch (WireFormatLite::GetTagWireType(tag)) {
    case WireFormatLite::WIRETYPE_VARINT: {
      uint64_t value;
      ptr = ReadVarint(ptr, &value);
      if (ptr != nullptr) set.AddVarint(number, value);
      return ptr;
    }
    case WireFormatLite::WIRETYPE_FIXED64:
      set.AddFixed64(number, UnalignedLoad<uint64_t>(ptr));
      return ptr + sizeof(uint64_t);
    case WireFormatLite::WIRETYPE_FIXED32:
      set.AddFixed32(number, UnalignedLoad<uint32_t>(ptr));
      return ptr + sizeof(uint32_t);
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
      size_t size;
      ptr = ReadLength(ptr, end, &size);
      if (ptr == nullptr) return nullptr;
      parser.Charge(layout::kUnknownStringBytes + StringBufferBytes(size));
      AddUnknownText(set, number, {ptr, size});
      return ptr + size;
    }
    case WireFormatLite::WIRETYPE_START_GROUP: {
      parser.Charge(layout::kUnknownObjectBytes);
      UnknownFieldSet& group = *set.AddGroup(number);
      const char* body_end;
      return ReadGroupFields(tag, ptr, end, parser, &body_end, [&](uint32_t inner, const char* at) {
        return ReadUnknownInto(inner, at, end, parser, group);
      });
    }
    default:
      return nullptr;
  }
}

}  // namespace

const char* ReadUnknown(uint32_t tag, const char* ptr, const char* end, Parser& parser,
                        google::protobuf::internal::InternalMetadata& metadata) {
  return ReadUnknownInto(tag, ptr, end, parser,
                         *metadata.mutable_unknown_fields<UnknownFieldSet>());
}

void AddUnknownEnum(Parser& parser, int number, uint64_t value,
                    google::protobuf::internal::InternalMetadata& metadata) {
  parser.Charge(layout::kUnknownFieldBytes);
  metadata.mutable_unknown_fields<UnknownFieldSet>()->AddVarint(number, UnknownEnum(value));
}

void ChargeUnknownEntry(Parser& parser, size_t entry_bytes) {
  // The key in the map, in the entry and in the unknown field.
  parser.Charge(layout::kUnknownFieldBytes + layout::kUnknownStringBytes +
                3 * StringBufferBytes(entry_bytes));
}

const char* SkipField(uint32_t tag, const char* ptr, const char* end, Parser& parser) noexcept {
  if (WireFormatLite::GetTagFieldNumber(tag) == 0) return nullptr;
  uint64_t value;
  size_t size;
  switch (WireFormatLite::GetTagWireType(tag)) {
    case WireFormatLite::WIRETYPE_VARINT:
      ptr = ReadVarint(ptr, &value);
      break;
    case WireFormatLite::WIRETYPE_FIXED64:
      ptr += sizeof(uint64_t);
      break;
    case WireFormatLite::WIRETYPE_FIXED32:
      ptr += sizeof(uint32_t);
      break;
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
      ptr = ReadLength(ptr, end, &size);
      if (ptr != nullptr) ptr += size;
      break;
    case WireFormatLite::WIRETYPE_START_GROUP: {
      const char* body_end;
      return SkipGroup(tag, ptr, end, parser, &body_end);
    }
    default:
      return nullptr;
  }
  return ptr != nullptr && ptr <= end ? ptr : nullptr;
}

const char* SkipGroup(uint32_t tag, const char* ptr, const char* end, Parser& parser,
                      const char** body_end) noexcept {
  return ReadGroupFields(tag, ptr, end, parser, body_end, [&](uint32_t inner, const char* at) {
    return SkipField(inner, at, end, parser);
  });
}

bool ReadByProtobuf(const char* ptr, const char* end, Parser& parser,
                    google::protobuf::MessageLite& message) {
  if (!parser.Enter()) return false;
  const auto* const full = dynamic_cast<const google::protobuf::Message*>(&message);
  const auto* const type = full == nullptr ? nullptr : full->GetDescriptor();
  const std::string_view wire(ptr, static_cast<size_t>(end - ptr));
  parser.ChargeForProtobuf(type, wire);
  parser.DoubtRequired();
  const bool ok =
      ReadInContext(ptr, end, parser.levels_left(),
                    [&](const char* at, google::protobuf::internal::ParseContext* context) {
                      return message._InternalParse(at, context);
                    });
  if (!ok) parser.ExplainForProtobuf(type, wire);
  parser.Leave();
  return ok;
}

const char* ReadExtension(const char* field, uint32_t tag, const char* ptr, const char* end,
                          Parser& parser, const google::protobuf::Message& prototype,
                          google::protobuf::internal::ExtensionSet& extensions,
                          google::protobuf::internal::InternalMetadata& metadata) {
  const char* const field_end = SkipField(tag, ptr, end, parser);
  if (field_end == nullptr) return nullptr;
  // As a message of one field.
  const std::string_view wire(field, static_cast<size_t>(field_end - field));
  const google::protobuf::Descriptor* const type = prototype.GetDescriptor();
  parser.ChargeForProtobuf(type, wire);
  parser.DoubtRequired();
  const auto read = [&](const char* at, google::protobuf::internal::ParseContext* context) {
    return extensions.ParseField(tag, at, &prototype, &metadata, context);
  };
  if (ReadInContext(ptr, field_end, parser.levels_left(), read)) return field_end;
  parser.ExplainForProtobuf(type, wire);
  return nullptr;
}

const char* ReadMapEntryByTable(uint32_t tag, const char* ptr, const char* end, Parser& parser,
                                google::protobuf::MessageLite& message,
                                const google::protobuf::internal::TcParseTableBase* stock) {
  size_t size;
  ptr = ReadLength(ptr, end, &size);
  if (ptr == nullptr) return nullptr;
  ChargeUnknownEntry(parser, size);
  // As a message of one field: the table reads fields with their tags.
  uint8_t head[2 * kVarintBytesMax];
  uint8_t* head_end = google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(tag, head);
  head_end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(size, head_end);
  std::string wire(reinterpret_cast<const char*>(head), static_cast<size_t>(head_end - head));
  wire.append(ptr, size);
  const auto read = [&](const char* at, google::protobuf::internal::ParseContext* context) {
    return google::protobuf::internal::TcParser::ParseLoop(&message, at, context, stock);
  };
  const char* const wire_end = wire.data() + wire.size();
  return ReadInContext(wire.data(), wire_end, parser.levels_left(), read) ? ptr + size : nullptr;
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
