#include "harena/pb/codec/read.h"

#include <cstring>

#include "harena/pb/layout/parse_window.h"
#include "harena/pb/layout/string_image.h"

#if HARENA_CODEC
namespace harena::pb::codec {

const char* ReadCutText(const char* ptr, int size, ParseContext* context, Builder& builder,
                        std::string_view* text) {
  // Otherwise it would be read up to the end, growing, before anybody says that it cannot be.
  if (size > context->BytesUntilLimit(ptr) || !layout::LimitIsInInput(*context, ptr))
    return nullptr;
  if (!builder.AllowStrings()) return nullptr;
  // Asked for once: a scratch that has become large is dropped when it is asked for again.
  std::string& scratch = builder.scratch();
  ptr = context->ReadString(ptr, size, &scratch);
  *text = scratch;
  return ptr;
}

bool CheckUtf8(std::string_view text, const char* utf8_name) {
  using google::protobuf::internal::WireFormatLite;
  return utf8_name == nullptr ||
         WireFormatLite::VerifyUtf8String(text.data(), static_cast<int>(text.size()),
                                          WireFormatLite::PARSE, utf8_name);
}

namespace {

// Reads a text into an image.
HARENA_INLINE const char* ReadImage(const char* ptr, ParseContext* context, Builder& builder,
                                    std::string** image, bool* ascii) {
  int size;
  ptr = ReadLength(ptr, &size);
  if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
  const ptrdiff_t rest = layout::BytesInBuffer(*context, ptr);
  // Behind the buffer there are as many bytes to read as a local text has at most.
  static_assert(layout::StringImage::kLocalMax < ParseContext::kSlopBytes);
  if (HARENA_LIKELY(size <= static_cast<int>(layout::StringImage::kLocalMax) && rest >= 0)) {
    *image = builder.NewLocalImage(ptr, static_cast<size_t>(size), ascii);
    return ptr + size;
  }
  std::string_view text(ptr, static_cast<size_t>(size));
  if (HARENA_LIKELY(size <= rest + ParseContext::kSlopBytes)) {
    ptr += size;
  } else {
    ptr = ReadCutText(ptr, size, context, builder, &text);
    if (ptr == nullptr) return nullptr;
  }
  *image = builder.NewImage(text, ascii);
  return ptr;
}

// What stands in front of the next element.
struct NextTag {
  explicit NextTag(uint32_t tag) noexcept {
    if (tag < 1 << 7) {
      bytes = 1;
      mask = 0xff;
      wire = tag;
    } else if (tag < 1 << 14) {
      bytes = 2;
      mask = 0xffff;
      wire = (tag & 0x7f) | 0x80 | tag >> 7 << 8;
    }
  }
  // As protobuf's ExpectTag(), which knows no longer ones either.
  HARENA_INLINE bool IsAt(const char* ptr) const noexcept {
    uint16_t there;
    std::memcpy(&there, ptr, sizeof there);
    return (there & mask) == wire;
  }

  int bytes = 0;
  uint32_t mask = 0;
  uint32_t wire = 1;
};

const char* ReadOpenStrings(const char* ptr, ParseContext* context, Builder& builder,
                            RepeatedPtrField<std::string>& field, const char* utf8_name,
                            NextTag next) {
  for (;;) {
    std::string_view text;
    ptr = ReadText(ptr, context, builder, &text);
    if (HARENA_UNLIKELY(ptr == nullptr) || !CheckUtf8(text, utf8_name)) return nullptr;
    if (field.ClearedCount() > 0) {
      field.Add()->assign(text);
    } else {
      field.UnsafeArenaAddAllocated(builder.NewOpenString(text));
    }
    if (!context->DataAvailable(ptr) || !next.IsAt(ptr)) return ptr;
    ptr += next.bytes;
  }
}

}  // namespace

const char* ReadString(const char* ptr, ParseContext* context, Builder& builder,
                       ArenaStringPtr& field, const char* utf8_name) {
  if (HARENA_LIKELY(builder.frozen())) {
    std::string* image;
    bool ascii;
    ptr = ReadImage(ptr, context, builder, &image, &ascii);
    if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
    Builder::SetImage(field, image);
    return HARENA_LIKELY(ascii) || CheckUtf8(*image, utf8_name) ? ptr : nullptr;
  }
  std::string_view text;
  ptr = ReadText(ptr, context, builder, &text);
  if (HARENA_UNLIKELY(ptr == nullptr) || !CheckUtf8(text, utf8_name)) return nullptr;
  builder.SetString(field, text);
  return ptr;
}

const char* ReadRepeatedString(const char* ptr, ParseContext* context, Builder& builder,
                               RepeatedPtrField<std::string>& field, const char* utf8_name,
                               uint32_t tag) {
  const NextTag next(tag);
  if (HARENA_UNLIKELY(!builder.frozen())) {
    return ReadOpenStrings(ptr, context, builder, field, utf8_name, next);
  }
  auto& gathered = builder.gathered();
  const size_t base = gathered.size();
  for (;;) {
    std::string* image;
    bool ascii;
    ptr = ReadImage(ptr, context, builder, &image, &ascii);
    if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
    builder.Gather(image);
    if (HARENA_UNLIKELY(!ascii) && !CheckUtf8(*image, utf8_name)) return nullptr;
    if (!context->DataAvailable(ptr) || !next.IsAt(ptr)) break;
    ptr += next.bytes;
  }
  layout::Append(field, gathered.data() + base, gathered.size() - base);
  gathered.resize(base);
  return ptr;
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
