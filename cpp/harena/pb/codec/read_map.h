// Entries of map fields, without an entry message in between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <google/protobuf/map_field.h>

#include "harena/pb/arena/string_buffers.h"
#include "harena/pb/codec/read.h"

#if HARENA_CODEC
namespace harena::pb::codec {

using google::protobuf::internal::WireFormatLite;

/// What is not there, where the sixteen bytes of a short text can be read.
inline constexpr char kNoText[16] = {};

/// A key or a value as it is on the wire. Numbers stand for themselves, all else for its bytes.
template <WireFormatLite::FieldType kType, typename T>
struct MapPart {
  static constexpr WireFormatLite::WireType kWireType = WireTypeOf(kType);
  static constexpr bool kIsNumber = kWireType != WireFormatLite::WIRETYPE_LENGTH_DELIMITED;

  const char* Read(const char* ptr, const char* end, Parser& parser, const char* utf8_name) {
    ++count;
    if constexpr (!kIsNumber) {
      ptr = ReadLength(ptr, end, &size);
      if (ptr == nullptr || !CheckUtf8InWire(parser, ptr, size, utf8_name)) return nullptr;
      text = ptr;
      return ptr + size;
    } else if constexpr (kWireType != WireFormatLite::WIRETYPE_VARINT) {
      number = google::protobuf::internal::UnalignedLoad<T>(ptr);
      return ptr + sizeof(T);
    } else {
      uint64_t bits;
      ptr = ReadVarint(ptr, &bits);
      constexpr Varint kKind = kType == WireFormatLite::TYPE_SINT32   ? Varint::kZigZag32
                               : kType == WireFormatLite::TYPE_SINT64 ? Varint::kZigZag64
                                                                      : Varint::kPlain;
      number = FromVarint<T, kKind>(bits);
      return ptr;
    }
  }

  std::conditional_t<kIsNumber, T, char> number{};
  const char* text = kNoText;
  size_t size = 0;
  int count = 0;  // of times that it was there
};

/// Makes a map's new value empty, and tells that its key has a destructor by then.
template <typename T>
class EmptyValue {
 public:
  explicit EmptyValue(bool* key_has_destructor) noexcept
      : key_has_destructor_(key_has_destructor) {}
  operator T() const noexcept {  // NOLINT(google-explicit-constructor)
    *key_has_destructor_ = true;
    return T();
  }

 private:
  bool* key_has_destructor_;
};

inline void EndKey(void* key) noexcept { EndString(*static_cast<std::string*>(key)); }

/// The place of the value of that key in the map, where it is empty or what it was. The key is an
/// ordinary string: the map moves it into its node and gives the node a destructor, all before
/// anybody could note down where that is. But its buffer is one that another string has left
/// behind, and is kept for the next request. REQUIRES: raw strings work, and values are no
/// messages.
template <typename Map>
auto PlaceForText(Map& map, std::string_view text, google::protobuf::Arena& arena) {
  alignas(std::string) char place[sizeof(std::string)];
  std::string& key = *MakeString(place, text);
  struct KeyEnd {
    ~KeyEnd() { EndString(key); }
    std::string& key;
  } key_end{key};
  const bool local = layout::IsLocal(key);
  const layout::RawString buffer = reinterpret_cast<const layout::RawString&>(key);
  bool has_destructor = false;
  try {
    const auto result =
        map.try_emplace(std::move(key), EmptyValue<typename Map::mapped_type>(&has_destructor));
    if (!local && result.second) {
      arena.OwnCustomDestructor(const_cast<std::string*>(&result.first->first), &EndKey);
    }
    return result;
  } catch (...) {
    // The map moves the key into a node of its own, registers a destructor for it, makes the value
    // and links the node, in this order. When memory is refused after the first, the buffer is
    // nobody's but ours.
    if (!local && layout::IsLocal(key) && !has_destructor) {
      reinterpret_cast<layout::RawString&>(key) = buffer;
    }
    throw;
  }
}

template <typename Map, typename KeyPart>
auto PlaceFor(Map& map, const KeyPart& key, Parser& parser) {
  if constexpr (KeyPart::kIsNumber) {
    return map.try_emplace(key.number);
  } else {
    parser.Charge(StringBufferBytes(key.size));
    constexpr bool kMessages =
        std::is_base_of_v<google::protobuf::MessageLite, typename Map::mapped_type>;
    if constexpr (!kMessages) {
      if (HARENA_LIKELY(parser.frozen() || layout::RawStringsWork())) {
        return PlaceForText(map, {key.text, key.size}, *parser.arena());
      }
    }
    // The map copies it.
    parser.Charge(StringBufferBytes(key.size));
    const std::string brought(key.text, key.size);
    return map.try_emplace(brought);
  }
}

/// Makes a text the value of a map's entry.
void SetMapString(Parser& parser, std::string& value, std::string_view text);

/// Parses the value of a map's entry, all of the times that it is in the entry.
template <typename T>
bool ParseMapMessage(const char* ptr, const char* end, Parser& parser, uint32_t value_tag,
                     T& message) {
  while (ptr < end) {
    uint32_t tag;
    ptr = google::protobuf::internal::ReadTag(ptr, &tag);
    if (tag == value_tag) {
      ptr = ReadMessage(ptr, end, parser, &message);
    } else {
      ptr = SkipField(tag, ptr, end, parser);
    }
    if (ptr == nullptr) return false;
  }
  return true;
}

/// Reads one entry by protobuf's own code: `read` gets a pointer and a context, as for
/// ReadInContext(). Enums of a closed set need it: what has no name is kept among the unknown
/// fields of the message.
template <typename Read>
const char* ReadMapEntryByProtobuf(const char* ptr, const char* end, Parser& parser, Read read) {
  size_t size;
  ptr = ReadLength(ptr, end, &size);
  if (ptr == nullptr || !parser.Enter()) return nullptr;
  ChargeUnknownEntry(parser, size);
  if (!ReadInContext(ptr, ptr + size, parser.levels_left(), read)) return nullptr;
  parser.Leave();
  return ptr + size;
}

/// Reads one entry of a map whose values are no enums of a closed set.
template <WireFormatLite::FieldType kKeyType, WireFormatLite::FieldType kValueType, typename Field>
HARENA_NOINLINE const char* ReadMapEntry(const char* ptr, const char* end, Parser& parser,
                                         Field& field, const char* key_utf8_name,
                                         const char* value_utf8_name) {
  using Map = std::remove_pointer_t<decltype(field.MutableMap())>;
  using Key = typename Map::key_type;
  using T = typename Map::mapped_type;
  if constexpr (requires { field._InternalParse(ptr, nullptr); }) {
    // Somebody has asked reflection for a list of the entries: protobuf knows which of the two
    // counts. (Where map fields do not parse, MutableMap() sees to it.)
    if (HARENA_UNLIKELY(!parser.frozen()) && field.IsRepeatedFieldValid()) {
      return ReadMapEntryByProtobuf(ptr, end, parser, [&](const char* at, auto* context) {
        return field._InternalParse(at, context);
      });
    }
  }
  MapPart<kKeyType, Key> key;
  MapPart<kValueType, T> value;
  constexpr uint32_t kKeyTag = 1 << 3 | decltype(key)::kWireType;
  constexpr uint32_t kValueTag = 2 << 3 | decltype(value)::kWireType;

  size_t size;
  ptr = ReadLength(ptr, end, &size);
  if (HARENA_UNLIKELY(ptr == nullptr || !parser.Enter())) return nullptr;
  const char* const begin = ptr;
  end = ptr + size;
  while (ptr < end) {
    uint32_t tag;
    ptr = google::protobuf::internal::ReadTag(ptr, &tag);
    if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
    if (HARENA_LIKELY(tag == kKeyTag)) {
      ptr = key.Read(ptr, end, parser, key_utf8_name);
    } else if (HARENA_LIKELY(tag == kValueTag)) {
      ptr = value.Read(ptr, end, parser, value_utf8_name);
    } else {
      // Entries keep no unknown fields.
      ptr = SkipField(tag, ptr, end, parser);
    }
    if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
  }
  if (HARENA_UNLIKELY(ptr != end)) return nullptr;

  const auto [entry, inserted] = PlaceFor(*field.MutableMap(), key, parser);
  T& place = entry->second;
  if constexpr (std::is_base_of_v<google::protobuf::MessageLite, T>) {
    if (!inserted) place.Clear();
    // What is not there may lack a field.
    if (value.count == 0) parser.DoubtRequired();
    if (!ParseMapMessage(begin, end, parser, kValueTag, place)) return nullptr;
  } else if constexpr (std::is_same_v<T, std::string>) {
    SetMapString(parser, place, {value.text, value.size});
  } else {
    place = static_cast<T>(value.number);
  }
  parser.Leave();
  return end;
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
