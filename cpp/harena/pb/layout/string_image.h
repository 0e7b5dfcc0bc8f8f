// A std::string whose bytes were written by us, in memory that is not its own.
#pragma once

#include <cstddef>
#include <string>

#include "harena/base/compiler.h"
#include "harena/pb/codec/copy.h"
#include "harena/pb/layout/support.h"

namespace harena::pb::layout {

/// What a std::string of libstdc++ (C++11 ABI) consists of: a pointer, a length, and 16 bytes that
/// hold either the content or the capacity. Source: <bits/basic_string.h>, members _M_p,
/// _M_string_length, _M_local_buf and _M_allocated_capacity.
///
/// It is written as this and read as a std::string, which the compiler has to be told.
/// An image reads as a std::string as long as it is const. Nobody may change or destroy one whose
/// content is not local: the string would give a pointer to the heap that the heap does not know.
struct HARENA_MAY_ALIAS StringImage {
  char* data;
  size_t length;
  union {
    char local[16];
    size_t capacity;
  };

  static constexpr size_t kLocalMax = sizeof(local) - 1;

  /// Bytes that an image of a string of `length` takes, content and final zero included.
  static constexpr size_t BytesFor(size_t length) noexcept {
    return sizeof(StringImage) + (length > kLocalMax ? length + 1 : 0);
  }

  /// Writes the image of `text` to `place`, which has BytesFor(length) bytes, aligned to 8. True
  /// when the text is all ASCII.
  HARENA_INLINE static bool Write(void* place, const char* text, size_t length) noexcept {
    return WriteApart(place, static_cast<StringImage*>(place) + 1, text, length);
  }

  /// The same with the content, unless it is local, at `content_place`.
  HARENA_INLINE static bool WriteApart(void* place, void* content_place, const char* text,
                                       size_t length) noexcept {
    auto* image = static_cast<StringImage*>(place);
    char* content;
    if (length <= kLocalMax) {
      content = image->local;
    } else {
      content = static_cast<char*>(content_place);
      image->capacity = length;
    }
    image->data = content;
    image->length = length;
    const bool ascii = codec::CopyText(content, text, length);
    content[length] = '\0';
    return ascii;
  }

  /// Write() for a text of at most kLocalMax bytes where kLocalMax + 1 can be read.
  HARENA_INLINE static bool WriteLocal(void* place, const char* text, size_t length) noexcept {
    auto* image = static_cast<StringImage*>(place);
    image->data = image->local;
    image->length = length;
    const bool ascii = codec::CopyShortText(image->local, text, length);
    image->local[length] = '\0';
    return ascii;
  }

  /// Writes to `place` an image of the string that `other` is the image of; they share content.
  static void Share(void* place, const std::string& other) noexcept {
    auto* image = static_cast<StringImage*>(place);
    *image = reinterpret_cast<const StringImage&>(other);
    if (image->length <= kLocalMax) image->data = image->local;
  }

  /// Makes an image's string the empty string, so that its destructor may run.
  static void Defuse(void* string) noexcept {
    auto* image = static_cast<StringImage*>(string);
    image->data = image->local;
    image->length = 0;
    image->local[0] = '\0';
  }
};

/// Whether a string's content lies in the string itself.
inline bool IsLocal(const std::string& string) noexcept {
  const auto& image = reinterpret_cast<const StringImage&>(string);
  return image.data == image.local;
}

#if HARENA_CODEC
static_assert(sizeof(std::string) == sizeof(StringImage),
              "this C++ library's std::string is not the one that the codec knows");
#endif

/// Whether images read as the strings they stand for in this program, tried once. Where the C++
/// library of another build is linked than the one compiled against, they may not; then, and where
/// the environment says HARENA_STRING_IMAGES=off at the first call, nobody may make or assume one.
bool StringImagesWork() noexcept;

}  // namespace harena::pb::layout
