// The names that differ between releases of protobuf. The only file with such cases.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include <google/protobuf/arena.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/stubs/common.h>
#include <google/protobuf/unknown_field_set.h>
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/stringpiece.h>
#endif

namespace harena::pb {

/// Text as protobuf takes it.
#if GOOGLE_PROTOBUF_VERSION < 4022000
using ProtobufText = google::protobuf::StringPiece;
#else
using ProtobufText = std::string_view;
#endif

/// Adds an unknown field that is a text.
inline void AddUnknownText(google::protobuf::UnknownFieldSet& set, int number,
                           std::string_view text) {
#if GOOGLE_PROTOBUF_VERSION < 5029000
  set.AddLengthDelimited(number)->assign(text);
#else
  set.AddLengthDelimited(number, text);
#endif
}

/// What an unknown field keeps of an enum's value on the wire that has no name. Parsing by tables
/// drops what no enum can hold.
constexpr uint64_t UnknownEnum(uint64_t value) noexcept {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  return value;
#else
  return static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)});
#endif
}

template <typename T>
concept ProtobufMessage = std::derived_from<T, google::protobuf::MessageLite>;

/// A T whose parts live on `arena`. Up to 25 Create() would put the shell alone on the arena; from
/// 30 on CreateMessage() is gone.
/// Thread rule: any thread. Lifetime rule: lives as long as the arena; never deleted.
template <ProtobufMessage T>
T* CreateOn(google::protobuf::Arena& arena) {
#if GOOGLE_PROTOBUF_VERSION < 5027000
  return google::protobuf::Arena::CreateMessage<T>(&arena);
#else
  return google::protobuf::Arena::Create<T>(&arena);
#endif
}

}  // namespace harena::pb
