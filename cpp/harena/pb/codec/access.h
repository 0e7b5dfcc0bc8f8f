// What the generated code of a message lets the codec call, and what calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <google/protobuf/arena.h>
#include <google/protobuf/parse_context.h>

#include "harena/base/compiler.h"

namespace harena::pb::codec {

class Builder;
class Writer;

/// Whether protoc-gen-harena has put a codec into T.
template <typename T>
concept HasCodec = requires {
  typename T::HarenaCodec;
};

/// What was written of messages on `arena`, which may be anybody's or null, is out of date.
void ForgetSized(const google::protobuf::Arena* arena) noexcept;

/// A friend of every message with a codec.
struct Access {
  template <typename T>
  static const char* Parse(T& message, const char* ptr,
                           google::protobuf::internal::ParseContext* context, Builder& builder) {
    return message.HarenaParse(ptr, context, builder);
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
    return ::new (place) T(arena, false);
  }
};

}  // namespace harena::pb::codec
