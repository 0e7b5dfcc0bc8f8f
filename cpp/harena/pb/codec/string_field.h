// The string fields of messages that have a codec.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <google/protobuf/arenastring.h>

#include "harena/pb/layout/family.h"

#if HARENA_CODEC
namespace harena::pb::codec {

/// Makes `text` the value of `field`, of a message on `arena`. A first value in a scope of mode
/// `codec`, on the scope's thread, takes no malloc; all else is as ArenaStringPtr::Set().
/// Throws std::bad_alloc.
void SetString(google::protobuf::internal::ArenaStringPtr& field, std::string_view text,
               google::protobuf::Arena* arena);
void SetString(google::protobuf::internal::ArenaStringPtr& field, const std::string& text,
               google::protobuf::Arena* arena);
/// The same for a field that has no value, with the buffer of `text`, which is only then taken.
/// False when it is none of ours.
bool TryAdoptFirst(google::protobuf::internal::ArenaStringPtr& field, std::string& text,
                   google::protobuf::Arena* arena);
/// The first value of a field that has none, empty and to be filled. Null when it is none of ours.
std::string* TryMakeFirst(google::protobuf::internal::ArenaStringPtr& field,
                          google::protobuf::Arena* arena);

}  // namespace harena::pb::codec

namespace google::protobuf::internal {

/// What stands in for ArenaStringPtr in the generated class: the same bytes, and the same functions
/// but for those that make a field's first value. The result is in any case what ArenaStringPtr
/// itself could have made, so code that sees the base class, the library's above all, is right too.
struct HarenaArenaStringPtr : ArenaStringPtr {
  using ArenaStringPtr::ArenaStringPtr;

  // As ArenaStringPtr's own overloads of all releases.
  using ArenaStringPtr::Set;
  using ArenaStringPtr::SetBytes;
  void Set(std::string_view value, Arena* arena) { SetText(value, arena); }
  void Set(const std::string& value, Arena* arena) {
    harena::pb::codec::SetString(*this, value, arena);
  }
  void SetBytes(std::string_view value, Arena* arena) { SetText(value, arena); }
  void SetBytes(const std::string& value, Arena* arena) { Set(value, arena); }
  void Set(const char* text, Arena* arena) { SetText(text, arena); }
  void Set(const char* text, size_t length, Arena* arena) {
    SetText(std::string_view(text, length), arena);
  }
  void Set(std::string&& value, Arena* arena) {
    if (IsDefault() && harena::pb::codec::TryAdoptFirst(*this, value, arena)) return;
    ArenaStringPtr::Set(std::move(value), arena);
  }
  template <typename RefWrappedType>
  void Set(std::reference_wrapper<RefWrappedType> value, Arena* arena) {
    Set(value.get(), arena);
  }
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
    if (IsDefault()) {
      if (std::string* const first = harena::pb::codec::TryMakeFirst(*this, arena)) return first;
    }
    return ArenaStringPtr::Mutable(arena);
  }
  std::string* Mutable(const LazyString& default_value, Arena* arena) {
    return ArenaStringPtr::Mutable(default_value, arena);
  }

 private:
  void SetText(std::string_view text, Arena* arena) {
    harena::pb::codec::SetString(*this, text, arena);
  }
};

static_assert(sizeof(HarenaArenaStringPtr) == sizeof(ArenaStringPtr) &&
                  std::is_trivially_default_constructible_v<HarenaArenaStringPtr> ==
                      std::is_trivially_default_constructible_v<ArenaStringPtr>,
              "the codec's string field must be protobuf's in all but name");

}  // namespace google::protobuf::internal
#endif  // HARENA_CODEC
