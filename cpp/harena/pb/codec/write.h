// What generated serializers are made of. Everything is written backwards: content, then length,
// then tag; the last field first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include <google/protobuf/extension_set.h>
#include <google/protobuf/map.h>
#include <google/protobuf/message.h>
#include <google/protobuf/repeated_field.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/wire_format_lite.h>

#include "harena/base/compiler.h"
#include "harena/base/copy_text.h"
#include "harena/pb/codec/access.h"
#include "harena/pb/codec/packed.h"
#include "harena/pb/codec/varint.h"
#include "harena/pb/codec/writer.h"
#include "harena/pb/layout/extension_count.h"

#if HARENA_SERIALIZER
namespace harena::pb::codec {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;
using google::protobuf::internal::WireFormatLite;

template <typename T>
HARENA_INLINE uint8_t* PutFixed(uint8_t* to, T value) noexcept {
  to -= sizeof(T);
  std::memcpy(to, &value, sizeof(T));
  return to;
}

template <WireFormatLite::FieldType kType>
inline constexpr bool kIsFixed =
    kType == WireFormatLite::TYPE_FIXED32 || kType == WireFormatLite::TYPE_SFIXED32 ||
    kType == WireFormatLite::TYPE_FLOAT || kType == WireFormatLite::TYPE_FIXED64 ||
    kType == WireFormatLite::TYPE_SFIXED64 || kType == WireFormatLite::TYPE_DOUBLE;

/// A scalar of one of protobuf's types, without tag.
template <WireFormatLite::FieldType kType, typename T>
HARENA_INLINE uint8_t* PutScalar(uint8_t* to, T value) noexcept {
  if constexpr (kIsFixed<kType>) {
    return PutFixed(to, value);
  } else {
    return PutVarint(to, ToVarint<kType>(value));
  }
}

/// A scalar with its tag. REQUIRES: room for both.
template <WireFormatLite::FieldType kType, typename T>
HARENA_INLINE uint8_t* PutField(uint8_t* to, uint32_t tag, T value) noexcept {
  return PutTag(PutScalar<kType>(to, value), tag);
}

/// Logs as protobuf does when a string that has to be UTF-8 is not. It is written all the same.
void CheckUtf8OnWrite(std::string_view text, const char* utf8_name);

uint8_t* WriteString(uint8_t* to, Writer& writer, uint32_t tag, const std::string& text,
                     const char* utf8_name);
/// Of a field whose accessors speak of views (string_type VIEW of newer protobuf).
uint8_t* WriteString(uint8_t* to, Writer& writer, uint32_t tag, std::string_view text,
                     const char* utf8_name);

uint8_t* WriteRepeatedString(uint8_t* to, Writer& writer, uint32_t tag,
                             const RepeatedPtrField<std::string>& field, const char* utf8_name);

/// PutHead() for any size and tag.
uint8_t* PutLongHead(uint8_t* to, size_t size, uint32_t tag) noexcept;

/// Ends the writing of a message whose fields are there: leaves its size in it, and puts length and
/// tag in front when it is a field itself (`tag` is not 0). `behind` is BytesFrom() of the
/// message's end. REQUIRES: room for both.
template <typename T>
HARENA_INLINE uint8_t* PutHead(uint8_t* to, const Writer& writer, uint32_t tag, const T& message,
                               size_t behind) {
  const size_t size = writer.BytesFrom(to) - behind;
  Access::SetSize(message, size, writer.arena());
  // Of 0, too, it is long.
  if (HARENA_UNLIKELY(tag - 1 >= 0x7f || size >= 0x80)) return PutLongHead(to, size, tag);
  *--to = static_cast<uint8_t>(size);
  *--to = static_cast<uint8_t>(tag);
  return to;
}

/// A message that has no codec, by protobuf's own serializer; as Access::Write().
uint8_t* WriteStockMessage(uint8_t* to, Writer& writer, uint32_t tag,
                           const google::protobuf::MessageLite& message);

template <typename T>
HARENA_INLINE uint8_t* WriteMessage(uint8_t* to, Writer& writer, uint32_t tag, const T& message) {
  if constexpr (HasCodec<T>) {
    return Access::Write(message, to, writer, tag);
  } else {
    return WriteStockMessage(to, writer, tag, message);
  }
}

template <typename T>
uint8_t* WriteRepeatedMessage(uint8_t* to, Writer& writer, uint32_t tag,
                              const RepeatedPtrField<T>& field) {
  for (int i = field.size() - 1; i >= 0; --i) to = WriteMessage(to, writer, tag, field.Get(i));
  return to;
}

/// `tag` is that of the group's start.
template <typename T>
uint8_t* WriteGroup(uint8_t* to, Writer& writer, uint32_t tag, const T& message) {
  to = PutTag(writer.Room(to, 0), tag + 1);
  to = WriteMessage(to, writer, 0, message);
  return PutTag(writer.Room(to, 0), tag);
}

template <typename T>
uint8_t* WriteRepeatedGroup(uint8_t* to, Writer& writer, uint32_t tag,
                            const RepeatedPtrField<T>& field) {
  for (int i = field.size() - 1; i >= 0; --i) to = WriteGroup(to, writer, tag, field.Get(i));
  return to;
}

template <WireFormatLite::FieldType kType, typename T>
uint8_t* WriteRepeated(uint8_t* to, Writer& writer, uint32_t tag, const RepeatedField<T>& field) {
  for (int i = field.size() - 1; i >= 0; --i) {
    to = PutField<kType>(writer.Room(to, 0), tag, field.Get(i));
  }
  return to;
}

/// `tag` is that of the packed field.
template <WireFormatLite::FieldType kType, typename T>
uint8_t* WritePacked(uint8_t* to, Writer& writer, uint32_t tag, const RepeatedField<T>& field) {
  if (field.empty()) return to;
  const size_t behind = writer.BytesFrom(to);
  if constexpr (kIsFixed<kType>) {
    const size_t size = static_cast<size_t>(field.size()) * sizeof(T);
    to = writer.Room(to, size);
    to -= size;
    std::memcpy(to, field.data(), size);
  } else {
    constexpr int kBatch = 64;
    const T* const values = field.data();
    for (int end = field.size(); end > 0;) {
      const int begin = std::max(end - kBatch, 0);
      to = writer.Room(to, static_cast<size_t>(end - begin) * kVarintBytesMax);
      to = PutVarints<kType>(to, values + begin, end - begin);
      end = begin;
    }
    to = writer.Room(to, 0);
  }
  return PutTag(PutVarint(to, writer.BytesFrom(to) - behind), tag);
}

/// The fields that this message's program does not know.
uint8_t* WriteUnknown(uint8_t* to, Writer& writer, const google::protobuf::UnknownFieldSet& set);

/// The extensions with numbers in [start, end).
uint8_t* WriteExtensionsSlow(uint8_t* to, Writer& writer,
                             const google::protobuf::internal::ExtensionSet& set,
                             const google::protobuf::MessageLite* extendee, int start, int end);
HARENA_INLINE uint8_t* WriteExtensions(uint8_t* to, Writer& writer,
                                       const google::protobuf::internal::ExtensionSet& set,
                                       const google::protobuf::MessageLite* extendee, int start,
                                       int end) {
  if (HARENA_LIKELY(layout::IsEmpty(set))) return to;
  return WriteExtensionsSlow(to, writer, set, extendee, start, end);
}

}  // namespace harena::pb::codec
#endif  // HARENA_SERIALIZER
