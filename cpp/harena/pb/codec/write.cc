#include "harena/pb/codec/write.h"

#include <climits>
#include <cstddef>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format.h>

#include "harena/pb/layout/pointer_array.h"
#include "harena/pb/layout/raw_string.h"

#if HARENA_SERIALIZER
namespace harena::pb::codec {
namespace {

using google::protobuf::internal::WireFormat;
using google::protobuf::io::EpsCopyOutputStream;

// Always in the order of keys: bytes then depend on the message alone.
constexpr bool kDeterministic = true;

}  // namespace

void CheckUtf8OnWrite(std::string_view text, const char* utf8_name) {
  if (utf8_name == nullptr) return;
  WireFormatLite::VerifyUtf8String(text.data(), static_cast<int>(text.size()),
                                   WireFormatLite::SERIALIZE, utf8_name);
}

namespace {

HARENA_INLINE uint8_t* WriteText(uint8_t* to, Writer& writer, uint32_t tag, std::string_view text,
                                 const char* utf8_name) {
  const size_t size = text.size();
  to = writer.Room(to, size);
  to -= size;
  if (HARENA_UNLIKELY(!CopyText(to, text.data(), size))) CheckUtf8OnWrite(text, utf8_name);
  return PutTag(PutVarint(to, size), tag);
}

#if HARENA_CODEC
// A string that lies in itself is written by one copy of sixteen bytes that ends where it ends:
// below it are bytes of the string object, and what they overwrite is yet to be written.
HARENA_INLINE uint8_t* WriteWhole(uint8_t* to, Writer& writer, uint32_t tag,
                                  const std::string& text, const char* utf8_name) {
  using layout::RawString;
  const size_t size = text.size();
  if (HARENA_UNLIKELY(!layout::IsLocal(text))) return WriteText(to, writer, tag, text, utf8_name);
  static_assert(offsetof(RawString, local) == 16 && RawString::kLocalMax < 16);
  static_assert(Writer::kSlackBytes >= 16);
  to = writer.Room(to, size);
  const char* const text_end =
      reinterpret_cast<const char*>(&text) + offsetof(RawString, local) + size;
  if (HARENA_UNLIKELY(!CopyShortTextBackwards(to, text_end, size))) {
    CheckUtf8OnWrite(text, utf8_name);
  }
  to -= size;
  *--to = static_cast<uint8_t>(size);
  return PutTag(to, tag);
}
#endif

}  // namespace

uint8_t* WriteString(uint8_t* to, Writer& writer, uint32_t tag, const std::string& text,
                     const char* utf8_name) {
#if HARENA_CODEC
  return WriteWhole(to, writer, tag, text, utf8_name);
#else
  return WriteText(to, writer, tag, text, utf8_name);
#endif
}

uint8_t* WriteString(uint8_t* to, Writer& writer, uint32_t tag, std::string_view text,
                     const char* utf8_name) {
  return WriteText(to, writer, tag, text, utf8_name);
}

uint8_t* WriteRepeatedString(uint8_t* to, Writer& writer, uint32_t tag,
                             const RepeatedPtrField<std::string>& field, const char* utf8_name) {
#if HARENA_CODEC
  if (field.empty()) return to;
  const std::string* const* const strings = layout::StringsOf(field);
  for (int i = field.size() - 1; i >= 0; --i) {
    to = WriteWhole(to, writer, tag, *strings[i], utf8_name);
  }
#else
  for (int i = field.size() - 1; i >= 0; --i) {
    to = WriteText(to, writer, tag, field.Get(i), utf8_name);
  }
#endif
  return to;
}

uint8_t* PutLongHead(uint8_t* to, size_t size, uint32_t tag) noexcept {
  return tag == 0 ? to : PutTag(PutVarint(to, size), tag);
}

uint8_t* WriteStockMessage(uint8_t* to, Writer& writer, uint32_t tag,
                           const google::protobuf::MessageLite& message) {
  const size_t size = message.ByteSizeLong();
  if (size > INT_MAX) throw OutOfRoom();
  to = writer.Room(to, size);
  EpsCopyOutputStream stream(to - size, static_cast<int>(size), kDeterministic);
  message._InternalSerialize(to - size, &stream);
  return PutLongHead(to - size, size, tag);
}

uint8_t* WriteUnknown(uint8_t* to, Writer& writer, const google::protobuf::UnknownFieldSet& set) {
  const size_t size = WireFormat::ComputeUnknownFieldsSize(set);
  if (size > INT_MAX) throw OutOfRoom();
  to = writer.Room(to, size);
  static_cast<void>(WireFormat::SerializeUnknownFieldsToArray(set, to - size));
  return to - size;
}

uint8_t* WriteExtensionsSlow(uint8_t* to, Writer& writer,
                             const google::protobuf::internal::ExtensionSet& set,
                             const google::protobuf::MessageLite* extendee, int start, int end) {
  // The set tells its size as a whole only, so a part of it is written to the front of the room
  // that the whole would take, and moved to its end.
  const size_t size_max = set.ByteSize();
  if (size_max > INT_MAX) throw OutOfRoom();
  to = writer.Room(to, size_max);
  uint8_t* const front = to - size_max;
  EpsCopyOutputStream stream(front, static_cast<int>(size_max), kDeterministic);
  const uint8_t* const behind = set._InternalSerialize(extendee, start, end, front, &stream);
  const auto size = static_cast<size_t>(behind - front);
  std::memmove(to - size, front, size);
  return to - size;
}

}  // namespace harena::pb::codec
#endif  // HARENA_SERIALIZER
