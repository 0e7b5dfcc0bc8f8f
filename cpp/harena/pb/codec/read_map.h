// Entries of map fields, without an entry message in between.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "harena/pb/codec/map_field.h"
#include "harena/pb/codec/read.h"
#include "harena/pb/codec/string_bodies.h"
#include "harena/pb/codec/wire.h"

#if HARENA_CODEC
namespace harena::pb::codec {

using google::protobuf::internal::WireFormatLite;

/// A key or a value while its entry is being read. Scalars stand for themselves.
template <WireFormatLite::FieldType kType, typename T>
class MapPart {
 public:
  static constexpr bool kIsString = false;

  const char* Read(const char* ptr, ParseContext*, Builder&, const char*) {
    using google::protobuf::internal::UnalignedLoad;
    if constexpr (kWireType == WireFormatLite::WIRETYPE_FIXED32 ||
                  kWireType == WireFormatLite::WIRETYPE_FIXED64) {
      value_ = UnalignedLoad<T>(ptr);
      return ptr + sizeof(T);
    } else {
      uint64_t bits;
      ptr = ReadVarint(ptr, &bits);
      if constexpr (kType == WireFormatLite::TYPE_SINT32) {
        value_ = FromVarint<T, Varint::kZigZag32>(bits);
      } else if constexpr (kType == WireFormatLite::TYPE_SINT64) {
        value_ = FromVarint<T, Varint::kZigZag64>(bits);
      } else {
        value_ = FromVarint<T, Varint::kPlain>(bits);
      }
      return ptr;
    }
  }
  T& value() noexcept { return value_; }

  static constexpr WireFormatLite::WireType kWireType = WireTypeOf(kType);

 private:
  T value_{};
};

/// A string value stands as an image: a chunk's end may come between key and value.
template <WireFormatLite::FieldType kType>
class MapPart<kType, std::string> {
 public:
  static constexpr bool kIsString = true;
  static constexpr WireFormatLite::WireType kWireType = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;

  MapPart() noexcept { layout::StringImage::Write(image_, "", 0); }

  const char* Read(const char* ptr, ParseContext* context, Builder& builder,
                   const char* utf8_name) {
    std::string_view text;
    ptr = ReadText(ptr, context, builder, &text);
    if (ptr == nullptr || !CheckUtf8(text, utf8_name)) return nullptr;
    builder.WriteImage(image_, text);
    return ptr;
  }
  const std::string& value() const noexcept {
    return *reinterpret_cast<const std::string*>(image_);
  }

 private:
  alignas(std::string) char image_[sizeof(std::string)];
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

/// A string key is an ordinary string: the map moves it into its node and gives the node a
/// destructor, all before anybody could note down where that is.
class MapKeyString {
 public:
  static constexpr bool kIsString = true;
  static constexpr WireFormatLite::WireType kWireType = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;

  const char* Read(const char* ptr, ParseContext* context, Builder& builder,
                   const char* utf8_name) {
    std::string_view text;
    ptr = ReadText(ptr, context, builder, &text);
    if (ptr == nullptr || !CheckUtf8(text, utf8_name)) return nullptr;
    if (text.size() > layout::StringImage::kLocalMax && !builder.AllowStrings()) return nullptr;
    EndString(value_);
    MakeString(&value_, text);
    return ptr;
  }
  MapKeyString() = default;
  ~MapKeyString() { EndString(value_); }
  MapKeyString(const MapKeyString&) = delete;
  MapKeyString& operator=(const MapKeyString&) = delete;

  /// try_emplace() with an empty value.
  template <typename Map>
  auto MoveInto(Map& map) {
    // The map moves the key into a node of its own, registers a destructor for it and makes the
    // value, in this order. When memory is refused after the first, the body is nobody's but ours.
    const layout::StringImage body = reinterpret_cast<const layout::StringImage&>(value_);
    const bool local = layout::IsLocal(value_);
    bool has_destructor = false;
    try {
      return map.try_emplace(std::move(value_),
                             EmptyValue<typename Map::mapped_type>(&has_destructor));
    } catch (...) {
      if (!local && layout::IsLocal(value_) && !has_destructor) {
        reinterpret_cast<layout::StringImage&>(value_) = body;
      }
      throw;
    }
  }

 private:
  std::string value_;
};

template <typename ValuePart, typename T>
HARENA_INLINE void Put(ValuePart& part, T& value, Builder& builder) {
  if constexpr (ValuePart::kIsString) {
    // protobuf will run the destructor of a value. Cleanups run last made first, so this one makes
    // it the empty string before; and it is there before there is something to make empty.
    if (part.value().size() > layout::StringImage::kLocalMax) {
      builder.arena()->OwnCustomDestructor(&value, &layout::StringImage::Defuse);
    }
    layout::StringImage::Share(&value, part.value());
  } else {
    value = part.value();
  }
}

inline void EndKey(void* key) noexcept { EndString(*static_cast<std::string*>(key)); }

/// Reads one entry of a map whose values are neither messages nor enums of a closed set.
template <typename Entry, typename Key, typename T, WireFormatLite::FieldType kKeyType,
          WireFormatLite::FieldType kValueType>
HARENA_NOINLINE const char* ReadMapEntry(
    const char* ptr, ParseContext* context, Builder& builder,
    google::protobuf::internal::HarenaMapField<Entry, Key, T, kKeyType, kValueType>& field,
    const char* key_utf8_name, const char* value_utf8_name) {
  if (HARENA_UNLIKELY(!builder.frozen())) return context->ParseMessage(&field, ptr);
  using KeyPart =
      std::conditional_t<std::is_same_v<Key, std::string>, MapKeyString, MapPart<kKeyType, Key>>;
  using ValuePart = MapPart<kValueType, T>;
  constexpr uint32_t kKeyTag = 1 << 3 | KeyPart::kWireType;
  constexpr uint32_t kValueTag = 2 << 3 | ValuePart::kWireType;

  int size;
  ptr = ReadLength(ptr, &size);
  if (ptr == nullptr) return nullptr;
  const int outer_limit = layout::PushLimit(*context, ptr, size);
  if (layout::DepthLeft(*context) <= 0) return nullptr;
  KeyPart key;
  ValuePart value;
  while (layout::HasMore(*context, &ptr)) {
    uint32_t tag;
    ptr = google::protobuf::internal::ReadTag(ptr, &tag);
    if (tag == kKeyTag) {
      ptr = key.Read(ptr, context, builder, key_utf8_name);
    } else if (tag == kValueTag) {
      ptr = value.Read(ptr, context, builder, value_utf8_name);
    } else if (tag == 0 || (tag & 7) == WireFormatLite::WIRETYPE_END_GROUP) {
      if (ptr != nullptr) context->SetLastTag(tag);
      break;
    } else {
      // Entries keep no unknown fields. They are one level deeper than the map.
      --layout::DepthLeft(*context);
      ptr = google::protobuf::internal::UnknownFieldParse(tag, static_cast<std::string*>(nullptr),
                                                          ptr, context);
      ++layout::DepthLeft(*context);
    }
    if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
  }
  if (ptr == nullptr || !layout::PopLimit(*context, outer_limit)) return nullptr;

  auto& map = *field.MutableMap();
  if constexpr (KeyPart::kIsString) {
    const auto [entry, inserted] = key.MoveInto(map);
    // The body of a key is kept for the next request.
    auto* const kept = const_cast<std::string*>(&entry->first);
    if (inserted && kept->size() > layout::StringImage::kLocalMax) {
      builder.arena()->OwnCustomDestructor(kept, &EndKey);
    }
    Put(value, entry->second, builder);
  } else {
    Put(value, map[key.value()], builder);
  }
  return ptr;
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
