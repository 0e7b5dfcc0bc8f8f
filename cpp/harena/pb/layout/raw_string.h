// A std::string whose bytes were written by us, in memory that is not its own.
#pragma once

#include <cstddef>
#include <string>

#include "harena/base/compiler.h"
#include "harena/base/copy_text.h"
#include "harena/pb/layout/family.h"

namespace harena::pb::layout {

/// What a std::string of libstdc++ (C++11 ABI) consists of: a pointer, a length, and 16 bytes that
/// hold either the content or the capacity. Source: <bits/basic_string.h>, members _M_p,
/// _M_string_length, _M_local_buf and _M_allocated_capacity.
///
/// It is written as this and read as a std::string, which the compiler has to be told. Nobody may
/// change or destroy the string when its content is not local: it would give the heap a pointer
/// that the heap does not know.
struct HARENA_MAY_ALIAS RawString {
  char* data;
  size_t length;
  union {
    char local[16];
    size_t capacity;
  };

  static constexpr size_t kLocalMax = sizeof(local) - 1;

  /// Bytes that a string of `length` takes, content and final zero included.
  static constexpr size_t BytesFor(size_t length) noexcept {
    return sizeof(RawString) + (length > kLocalMax ? length + 1 : 0);
  }

  /// Writes a string of that text to `place`, which has BytesFor(length) bytes, aligned to 8. True
  /// when the text is all ASCII.
  HARENA_INLINE static bool Write(void* place, const char* text, size_t length) noexcept {
    return WriteApart(place, static_cast<RawString*>(place) + 1, text, length);
  }

  /// The same with the content, unless it is local, at `content_place`.
  HARENA_INLINE static bool WriteApart(void* place, void* content_place, const char* text,
                                       size_t length) noexcept {
    auto* raw = static_cast<RawString*>(place);
    char* content;
    if (length <= kLocalMax) {
      content = raw->local;
    } else {
      content = static_cast<char*>(content_place);
      raw->capacity = length;
    }
    raw->data = content;
    raw->length = length;
    const bool ascii = CopyText(content, text, length);
    content[length] = '\0';
    return ascii;
  }

  /// Write() for a text of at most kLocalMax bytes where kLocalMax + 1 can be read.
  HARENA_INLINE static bool WriteLocal(void* place, const char* text, size_t length) noexcept {
    auto* raw = static_cast<RawString*>(place);
    raw->data = raw->local;
    raw->length = length;
    const bool ascii = CopyShortText(raw->local, text, length);
    raw->local[length] = '\0';
    return ascii;
  }

  /// Writes to `place` a string that shares its content with `other`.
  static void Share(void* place, const std::string& other) noexcept {
    auto* raw = static_cast<RawString*>(place);
    *raw = reinterpret_cast<const RawString&>(other);
    if (raw->length <= kLocalMax) raw->data = raw->local;
  }

  /// Makes the string an empty one, so that its destructor may run.
  static void Defuse(void* string) noexcept {
    auto* raw = static_cast<RawString*>(string);
    raw->data = raw->local;
    raw->length = 0;
    raw->local[0] = '\0';
  }
};

/// Whether a string's content lies in the string itself.
inline bool IsLocal(const std::string& string) noexcept {
  const auto& raw = reinterpret_cast<const RawString&>(string);
  return raw.data == raw.local;
}

#if HARENA_CODEC
static_assert(sizeof(std::string) == sizeof(RawString),
              "this C++ library's std::string is not the one that the codec knows");
#endif

/// Whether raw strings read as strings in this program, tried once. Where the C++
/// library of another build is linked than the one compiled against, they may not; then, and where
/// the environment says HARENA_STRING_IMAGES=off at the first call, nobody may make or assume one.
bool RawStringsWork() noexcept;

}  // namespace harena::pb::layout
