#include "harena/pb/codec/repeated_field.h"

#include <algorithm>
#include <cstring>

#include "harena/pb/arena/message_arena.h"
#include "harena/pb/layout/pointer_array.h"

#if HARENA_CODEC && HARENA_PROTOBUF_3_21
namespace harena::pb::codec {
namespace {

using google::protobuf::Arena;
using google::protobuf::RepeatedPtrField;

HARENA_INLINE MessageArena* Find(const Arena* arena) noexcept {
  return HARENA_LIKELY(arena != nullptr) ? MessageArena::FindCodecInline(arena) : nullptr;
}

// The new string, or null: then protobuf has to add it.
template <typename Text>
std::string* TryNewElement(RepeatedPtrField<std::string>& field, Text&& text) {
  // One that was cleared comes first, as in protobuf.
  if (HARENA_UNLIKELY(layout::HasCleared(field))) return nullptr;
  MessageArena* const messages = Find(field.GetArena());
  return messages == nullptr ? nullptr : messages->strings().TryMake(std::forward<Text>(text));
}

}  // namespace

void* TryGrowArray(Arena* arena, void* elements, size_t element_bytes, int* capacity) {
  using Header = layout::RepeatedHeader;
  MessageArena* const messages = Find(arena);
  if (messages == nullptr) return nullptr;
  constexpr size_t kFirstBytes = 32;
  const auto capacity_now = static_cast<size_t>(*capacity);
  const size_t bytes = sizeof(Header) + capacity_now * element_bytes;
  const size_t wanted = std::max(kFirstBytes / element_bytes, 2 * capacity_now);
  const size_t bytes_wanted = sizeof(Header) + wanted * element_bytes;
  SmallMemory& small_memory = messages->small_memory();
  if (elements != nullptr && bytes_wanted <= SmallMemory::kBytesMax &&
      small_memory.TryExtend(static_cast<Header*>(elements) - 1, bytes, bytes_wanted)) {
    *capacity = static_cast<int>(wanted);
    return elements;
  }
  void* const place = small_memory.TryAllocate(bytes_wanted);
  if (place == nullptr) return nullptr;
  auto* const header = ::new (place) Header{arena};
  if (elements != nullptr) std::memcpy(header + 1, elements, bytes - sizeof(Header));
  *capacity = static_cast<int>(wanted);
  return header + 1;
}

void* TryPlaceMessage(Arena* arena, size_t bytes) {
  MessageArena* const messages = Find(arena);
  return messages == nullptr ? nullptr : messages->small_memory().TryAllocate(bytes);
}

void AddString(RepeatedPtrField<std::string>& field, std::string_view text) {
  if (std::string* string = TryNewElement(field, text)) {
    layout::Append(field, string);
  } else {
    field.Add()->assign(text);
  }
}

void AddString(RepeatedPtrField<std::string>& field, const std::string& text) {
  if (std::string* string = TryNewElement(field, text)) {
    layout::Append(field, string);
  } else {
    field.Add()->assign(text);
  }
}

void AddString(RepeatedPtrField<std::string>& field, std::string&& text) {
  if (std::string* string = TryNewElement(field, std::move(text))) {
    layout::Append(field, string);
  } else {
    field.Add(std::move(text));  // NOLINT(bugprone-use-after-move): null took nothing
  }
}

void MergeStrings(RepeatedPtrField<std::string>& field, const RepeatedPtrField<std::string>& from) {
  if (from.empty()) return;
  const int count = from.size();
  MessageArena* const messages = Find(field.GetArena());
  if (messages == nullptr || !messages->strings().IsHere() || layout::HasCleared(field)) {
    field.MergeFrom(from);
    return;
  }
  field.Reserve(field.size() + count);
  // Only now: it may be the same field.
  messages->strings().Copy(layout::StringsOf(from), static_cast<size_t>(count),
                           layout::EndOf(field));
  layout::Grow(field, count);
}

}  // namespace harena::pb::codec
#endif  // HARENA_PROTOBUF_3_21
