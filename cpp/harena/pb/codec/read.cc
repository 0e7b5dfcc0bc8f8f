#include "harena/pb/codec/read.h"

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

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
