#include "harena/pb/codec/string_field.h"

#include <utility>

#include "harena/pb/arena/message_arena.h"

#if HARENA_CODEC
namespace harena::pb::codec {
namespace {

using google::protobuf::Arena;
using google::protobuf::internal::ArenaStringPtr;

// The first value of a field, or null when it is none of ours.
template <typename Text>
HARENA_INLINE std::string* TryFirst(ArenaStringPtr& field, Text&& text, const Arena* arena) {
  if (HARENA_UNLIKELY(arena == nullptr)) return nullptr;
  MessageArena* const messages = MessageArena::FindCodecInline(arena);
  if (HARENA_UNLIKELY(messages == nullptr)) return nullptr;
  std::string* const string = messages->strings().TryMake(std::forward<Text>(text));
  if (HARENA_UNLIKELY(string == nullptr)) return nullptr;
  google::protobuf::internal::TaggedStringPtr tagged;
  tagged.SetMutableArena(string);
  field.UnsafeSetTaggedPointer(tagged);
  return string;
}

// Apart, for the string that it makes on the way.
HARENA_NOINLINE void SetStock(ArenaStringPtr& field, std::string_view text, Arena* arena) {
  field.Set(text.data(), text.size(), arena);
}

}  // namespace

void SetString(ArenaStringPtr& field, std::string_view text, Arena* arena) {
  if (HARENA_UNLIKELY(!field.IsDefault() || TryFirst(field, text, arena) == nullptr)) {
    SetStock(field, text, arena);
  }
}

void SetString(ArenaStringPtr& field, const std::string& text, Arena* arena) {
  if (HARENA_UNLIKELY(!field.IsDefault() || TryFirst(field, text, arena) == nullptr)) {
    field.Set(text, arena);
  }
}

bool TryAdoptFirst(ArenaStringPtr& field, std::string& text, Arena* arena) {
  return TryFirst(field, std::move(text), arena) != nullptr;
}

std::string* TryMakeFirst(ArenaStringPtr& field, Arena* arena) {
  return TryFirst(field, std::string_view(), arena);
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
