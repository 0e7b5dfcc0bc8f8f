#include "harena/pb/codec/repeated.h"

#include <algorithm>
#include <cstring>

#include "harena/pb/layout/pointers_window.h"
#include "harena/pb/message_arena.h"

#if HARENA_CODEC
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
  MessageArena* const home = Find(field.GetArena());
  return home == nullptr ? nullptr : home->strings().TryMake(std::forward<Text>(text));
}

}  // namespace

void* TryGrowArray(Arena* arena, void* elements, size_t element_bytes, int* capacity) {
  using Header = layout::RepeatedHeader;
  MessageArena* const home = Find(arena);
  if (home == nullptr) return nullptr;
  constexpr size_t kFirstBytes = 32;
  const auto capacity_now = static_cast<size_t>(*capacity);
  const size_t bytes = sizeof(Header) + capacity_now * element_bytes;
  const size_t wanted = std::max(kFirstBytes / element_bytes, 2 * capacity_now);
  const size_t bytes_wanted = sizeof(Header) + wanted * element_bytes;
  Chunk& chunk = home->chunk();
  if (elements != nullptr && bytes_wanted <= Chunk::kBytesMax &&
      chunk.TryExtend(static_cast<Header*>(elements) - 1, bytes, bytes_wanted)) {
    *capacity = static_cast<int>(wanted);
    return elements;
  }
  void* const place = chunk.TryAllocate(bytes_wanted);
  if (place == nullptr) return nullptr;
  auto* const header = ::new (place) Header{arena};
  if (elements != nullptr) std::memcpy(header + 1, elements, bytes - sizeof(Header));
  *capacity = static_cast<int>(wanted);
  return header + 1;
}

void* TryPlaceMessage(Arena* arena, size_t bytes) {
  MessageArena* const home = Find(arena);
  return home == nullptr ? nullptr : home->chunk().TryAllocate(bytes);
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
  MessageArena* const home = Find(field.GetArena());
  if (home == nullptr || !home->strings().IsHere() || layout::HasCleared(field)) {
    field.MergeFrom(from);
    return;
  }
  field.Reserve(field.size() + count);
  // Only now: it may be the same field.
  home->strings().Copy(layout::StringsOf(from), static_cast<size_t>(count), layout::EndOf(field));
  layout::Grow(field, count);
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
