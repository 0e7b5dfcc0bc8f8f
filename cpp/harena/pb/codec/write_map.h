// Map fields, in the order of their keys, as protobuf's deterministic serialization has them.
#pragma once

#include <algorithm>

#include "harena/pb/codec/varint.h"
#include "harena/pb/codec/write.h"

#if HARENA_SERIALIZER
namespace harena::pb::codec {

/// One part of an entry: the key (field 1) or the value (field 2).
template <WireFormatLite::FieldType kType, int kNumber, typename T>
HARENA_INLINE uint8_t* WriteMapPart(uint8_t* to, Writer& writer, const T& value,
                                    const char* utf8_name) {
  constexpr uint32_t kTag = kNumber << 3 | WireTypeOf(kType);
  if constexpr (std::is_same_v<T, std::string>) {
    return WriteString(to, writer, kTag, value, utf8_name);
  } else if constexpr (kType == WireFormatLite::TYPE_MESSAGE) {
    return WriteMessage(to, writer, kTag, value);
  } else {
    return PutField<kType>(writer.Room(to, 0), kTag, value);
  }
}

template <WireFormatLite::FieldType kKeyType, WireFormatLite::FieldType kValueType, typename Entry>
HARENA_INLINE uint8_t* WriteMapEntry(uint8_t* to, Writer& writer, uint32_t tag, const Entry& entry,
                                     const char* key_utf8_name, const char* value_utf8_name) {
  const size_t behind = writer.BytesFrom(to);
  to = WriteMapPart<kValueType, 2>(to, writer, entry.second, value_utf8_name);
  to = WriteMapPart<kKeyType, 1>(to, writer, entry.first, key_utf8_name);
  to = writer.Room(to, 0);
  return PutTag(PutVarint(to, writer.BytesFrom(to) - behind), tag);
}

template <WireFormatLite::FieldType kKeyType, WireFormatLite::FieldType kValueType, typename Key,
          typename T>
uint8_t* WriteMap(uint8_t* to, Writer& writer, uint32_t tag,
                  const google::protobuf::Map<Key, T>& map, const char* key_utf8_name,
                  const char* value_utf8_name) {
  using Entry = typename google::protobuf::Map<Key, T>::value_type;
  if (map.empty()) return to;
  // A stack, because a map's values may have maps.
  auto& entries = writer.entries();
  const size_t base = entries.size();
  for (const Entry& entry : map) entries.push_back(&entry);
  std::sort(entries.begin() + static_cast<ptrdiff_t>(base), entries.end(),
            [](const void* a, const void* b) {
              return static_cast<const Entry*>(a)->first < static_cast<const Entry*>(b)->first;
            });
  for (size_t i = entries.size(); i-- > base;) {
    to = WriteMapEntry<kKeyType, kValueType>(
        to, writer, tag, *static_cast<const Entry*>(entries[i]), key_utf8_name, value_utf8_name);
  }
  entries.resize(base);
  return to;
}

}  // namespace harena::pb::codec
#endif  // HARENA_SERIALIZER
