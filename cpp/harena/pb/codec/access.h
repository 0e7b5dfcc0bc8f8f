// What the generated code of a message lets the codec call, and what calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <google/protobuf/arena.h>
#include <google/protobuf/message_lite.h>

#include "harena/base/compiler.h"

namespace harena::pb::codec {

class Parser;
class Writer;

/// Whether protoc-gen-harena has put a codec into T.
template <typename T>
concept HasCodec = requires {
  typename T::HarenaCodec;
};

/// What protoc-gen-harena knows of a message type, the types of its fields included.
struct WireFacts {
  bool has_text;  ///< Strings or bytes, which point into the wire of a frozen message.
  bool has_utf8;  ///< Strings that have to be UTF-8.
};

/// A generated parser for those who do not know the type. REQUIRES: the message is of the type.
struct MessageParser {
  bool (*parse)(google::protobuf::MessageLite& message, const char* ptr, const char* end,
                Parser& parser);
  WireFacts facts;
};

/// What was written of messages on `arena`, which may be anybody's or null, is out of date.
void ForgetSized(const google::protobuf::Arena* arena) noexcept;

/// A friend of every message with a codec.
struct Access {
  /// Parses [ptr, end) into the message; true when it ends there.
  template <typename T>
  HARENA_INLINE static bool Parse(T& message, const char* ptr, const char* end, Parser& parser) {
    return message.HarenaParse(ptr, end, parser);
  }
  /// Writes the message as a field, with length and `tag`; with `tag` 0, what is in it alone.
  template <typename T>
  static uint8_t* Write(const T& message, uint8_t* to, Writer& writer, uint32_t tag) {
    return message.HarenaWrite(to, writer, tag);
  }
  /// Leaves a message's size where protobuf leaves it. `arena` is that of the whole.
  template <typename T>
  static void SetSize(const T& message, size_t size, const google::protobuf::Arena* arena) {
    message._impl_._cached_size_.Set(static_cast<int>(size));
    // Only protobuf's "unsafe" setters join parts of two arenas.
    const google::protobuf::Arena* const own = message.GetArena();
    if (HARENA_UNLIKELY(own != arena)) ForgetSized(own);
  }
  template <typename T>
  static T* New(void* place, google::protobuf::Arena* arena) {
    if constexpr (requires { T(arena, false); }) {
      return ::new (place) T(arena, false);  // 3.21: the message is not the one that owns the arena
    } else {
      return ::new (place) T(arena);
    }
  }
};

template <typename T>
inline constexpr MessageParser kParserOf{
    [](google::protobuf::MessageLite& message, const char* ptr, const char* end, Parser& parser) {
      return Access::Parse(static_cast<T&>(message), ptr, end, parser);
    },
    T::kHarenaWire};

/// The generated parser of T; null where protobuf's own is all there is.
template <typename T>
constexpr const MessageParser* ParserOf() noexcept {
  if constexpr (requires { T::kHarenaWire; }) {
    return &kParserOf<T>;
  } else {
    return nullptr;
  }
}

}  // namespace harena::pb::codec
