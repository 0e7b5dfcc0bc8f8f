// The string fields of messages that have a codec.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <google/protobuf/arenastring.h>

#include "harena/pb/layout/support.h"

#if HARENA_CODEC
namespace harena::pb::codec {

/// An ordinary string with that content for a message on `arena`, without malloc; null when `arena`
/// is no scope of mode `codec`, or another thread's. Throws std::bad_alloc.
std::string* TryNewString(google::protobuf::Arena* arena, std::string_view text);
/// The same with the body of `text`, which is only then taken.
std::string* TryAdoptString(google::protobuf::Arena* arena, std::string& text);

}  // namespace harena::pb::codec

namespace google::protobuf::internal {

/// What stands in for ArenaStringPtr in the generated class: the same bytes, and the same functions
/// but for those that make a field's first value. The result is in any case what ArenaStringPtr
/// itself could have made, so code that sees the base class, the library's above all, is right too.
struct HarenaArenaStringPtr : ArenaStringPtr {
  using ArenaStringPtr::ArenaStringPtr;

  // As ArenaStringPtr's own overloads.
  void Set(ConstStringParam value, Arena* arena) { SetText(value, arena); }
  void Set(const char* text, Arena* arena) { SetText(text, arena); }
  void Set(const char* text, size_t length, Arena* arena) {
    SetText(std::string_view(text, length), arena);
  }
  void Set(std::string&& value, Arena* arena) {
    if (IsDefault() && arena != nullptr) {
      if (std::string* string = harena::pb::codec::TryAdoptString(arena, value)) {
        return Adopt(string);
      }
    }
    ArenaStringPtr::Set(std::move(value), arena);
  }
  template <typename RefWrappedType>
  void Set(std::reference_wrapper<RefWrappedType> value, Arena* arena) {
    Set(value.get(), arena);
  }
  void SetBytes(ConstStringParam value, Arena* arena) { SetText(value, arena); }
  void SetBytes(std::string&& value, Arena* arena) { Set(std::move(value), arena); }
  void SetBytes(const char* text, Arena* arena) { SetText(text, arena); }
  void SetBytes(const void* data, size_t size, Arena* arena) {
    SetText(std::string_view(static_cast<const char*>(data), size), arena);
  }
  template <typename RefWrappedType>
  void SetBytes(std::reference_wrapper<RefWrappedType> value, Arena* arena) {
    Set(value.get(), arena);
  }

  std::string* Mutable(Arena* arena) {
    if (IsDefault() && arena != nullptr) {
      if (std::string* string = harena::pb::codec::TryNewString(arena, std::string_view())) {
        Adopt(string);
        return string;
      }
    }
    return ArenaStringPtr::Mutable(arena);
  }
  std::string* Mutable(const LazyString& default_value, Arena* arena) {
    return ArenaStringPtr::Mutable(default_value, arena);
  }

 private:
  void Adopt(std::string* string) {
    TaggedStringPtr tagged;
    tagged.SetMutableArena(string);
    UnsafeSetTaggedPointer(tagged);
  }
  void SetText(std::string_view text, Arena* arena) {
    if (IsDefault() && arena != nullptr) {
      if (std::string* string = harena::pb::codec::TryNewString(arena, text)) return Adopt(string);
    }
    ArenaStringPtr::Set(text.data(), text.size(), arena);
  }
};

static_assert(sizeof(HarenaArenaStringPtr) == sizeof(ArenaStringPtr) &&
                  std::is_trivially_default_constructible_v<HarenaArenaStringPtr>,
              "the codec's string field must be protobuf's in all but name");

}  // namespace google::protobuf::internal
#endif  // HARENA_CODEC
