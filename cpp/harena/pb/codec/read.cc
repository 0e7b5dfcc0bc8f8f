#include "harena/pb/codec/read.h"

#include <cstring>

#if HARENA_CODEC
namespace harena::pb::codec {

const char* ReadCutText(const char* ptr, int size, ParseContext* context, Builder& builder,
                        std::string_view* text) {
  if (!builder.AllowHeap()) return nullptr;
  ptr = context->ReadString(ptr, size, &builder.scratch());
  *text = builder.scratch();
  return ptr;
}

bool CheckUtf8(std::string_view text, const char* utf8_name) {
  using google::protobuf::internal::WireFormatLite;
  return utf8_name == nullptr ||
         WireFormatLite::VerifyUtf8String(text.data(), static_cast<int>(text.size()),
                                          WireFormatLite::PARSE, utf8_name);
}

const char* ReadString(const char* ptr, ParseContext* context, Builder& builder,
                       ArenaStringPtr& field, const char* utf8_name) {
  std::string_view text;
  ptr = ReadText(ptr, context, builder, &text);
  if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
  if (HARENA_LIKELY(builder.frozen())) {
    const bool ascii = builder.SetImage(field, text);
    return HARENA_LIKELY(ascii) || CheckUtf8(text, utf8_name) ? ptr : nullptr;
  }
  if (!CheckUtf8(text, utf8_name)) return nullptr;
  builder.SetString(field, text);
  return ptr;
}

const char* ReadRepeatedString(const char* ptr, ParseContext* context, Builder& builder,
                               RepeatedPtrField<std::string>& field, const char* utf8_name) {
  std::string_view text;
  ptr = ReadText(ptr, context, builder, &text);
  if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
  if (HARENA_LIKELY(builder.frozen())) {
    bool ascii;
    std::string* image = builder.NewImage(text, &ascii);
    field.UnsafeArenaAddAllocated(image);
    return HARENA_LIKELY(ascii) || CheckUtf8(text, utf8_name) ? ptr : nullptr;
  }
  if (!CheckUtf8(text, utf8_name)) return nullptr;
  if (field.ClearedCount() > 0) {
    field.Add()->assign(text);
  } else {
    field.UnsafeArenaAddAllocated(builder.NewOpenString(text));
  }
  return ptr;
}

int CountVarints(const char* data, int size) noexcept {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  int count = 0;
  int i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, data + i, 8);
    // The sum of eight bytes of 0 or 1.
    count += static_cast<int>(((~word & kHighBits) >> 7) * 0x0101010101010101 >> 56);
  }
  for (; i < size; ++i) count += static_cast<uint8_t>(data[i]) < 0x80;
  return count;
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
