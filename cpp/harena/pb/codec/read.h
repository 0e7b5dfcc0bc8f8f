// What generated parsers are made of. Each function reads what stands at `ptr`, behind a tag, and
// gives back where that ends: at `end` or before, or, for a number that goes on behind its message,
// a little after, which the message's loop notices. Null on bad input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include <google/protobuf/generated_message_util.h>
#include <google/protobuf/repeated_field.h>
#include <google/protobuf/wire_format_lite.h>

#include "harena/base/compiler.h"
#include "harena/pb/codec/by_protobuf.h"
#include "harena/pb/codec/packed.h"
#include "harena/pb/codec/parser.h"
#include "harena/pb/codec/varint.h"
#include "harena/pb/layout/pointer_array.h"
#include "harena/pb/layout/value_array.h"

#if HARENA_CODEC
namespace harena::pb::codec {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;
using google::protobuf::internal::ArenaStringPtr;

/// Whether `text` may be the value of the field of that full name; null stands for a field whose
/// bytes may be anything. Where it may not, that is logged as protobuf does.
bool CheckUtf8(std::string_view text, const char* utf8_name);

/// The same for a text of the wire.
HARENA_INLINE bool CheckUtf8InWire(const Parser& parser, const char* text, size_t size,
                                   const char* utf8_name) {
  if (utf8_name == nullptr) return true;
  if (parser.frozen() && HARENA_LIKELY(parser.IsAscii(text, size))) return true;
  return CheckUtf8({text, size}, utf8_name);
}

/// Makes `text` the value of `field` of an open message. False when it is no UTF-8 and has to be.
bool SetOpenString(Parser& parser, ArenaStringPtr& field, std::string_view text,
                   const char* utf8_name);

/// Reads a string or bytes field.
HARENA_INLINE const char* ReadString(const char* ptr, const char* end, Parser& parser,
                                     ArenaStringPtr& field, const char* utf8_name) {
  size_t size;
  ptr = ReadLength(ptr, end, &size);
  if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
  if (HARENA_UNLIKELY(!parser.frozen())) {
    return SetOpenString(parser, field, {ptr, size}, utf8_name) ? ptr + size : nullptr;
  }
  Parser::SetRawString(field, parser.NewRawString(ptr, size));
  return CheckUtf8InWire(parser, ptr, size, utf8_name) ? ptr + size : nullptr;
}

/// Reads the elements of a repeated string or bytes field that follow each other, each but the
/// first behind `tag`.
const char* ReadRepeatedString(const char* ptr, const char* end, Parser& parser,
                               RepeatedPtrField<std::string>& field, const char* utf8_name,
                               uint32_t tag);

/// Puts what is pending from `first` on into `field`, whose array then has the right size.
template <typename T>
HARENA_INLINE void AppendPending(Parser& parser, RepeatedPtrField<T>& field, size_t first) {
  const size_t count = parser.pending_count() - first;
  if (HARENA_LIKELY(!layout::HasArray(field))) {
    layout::SetArray(field, parser.Allocate(layout::ArrayBytes(count)), parser.pending() + first,
                     count);
  } else {
    layout::Append(field, parser.pending() + first, count);
  }
  parser.DropPendingFrom(first);
}

/// Reads a message field that is not a group into `message`.
template <typename T>
HARENA_INLINE const char* ReadMessage(const char* ptr, const char* end, Parser& parser,
                                      T* message) {
  size_t size;
  ptr = ReadLength(ptr, end, &size);
  if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
  if constexpr (HasCodec<T>) {
    // Below a message that may be changed there may be parts that somebody made elsewhere.
    if (HARENA_UNLIKELY(!parser.frozen()) && message->GetArena() != parser.arena()) {
      return ReadByProtobuf(ptr, ptr + size, parser, *message) ? ptr + size : nullptr;
    }
    if (HARENA_UNLIKELY(!parser.Enter())) return nullptr;
    if (HARENA_UNLIKELY(!Access::Parse(*message, ptr, ptr + size, parser))) return parser.Fail();
    parser.Leave();
    return ptr + size;
  } else {
    return ReadByProtobuf(ptr, ptr + size, parser, *message) ? ptr + size : nullptr;
  }
}

/// The same for a group, whose end tag is `tag` + 1.
template <typename T>
const char* ReadGroup(const char* ptr, const char* end, Parser& parser, T* message, uint32_t tag) {
  if constexpr (HasCodec<T>) {
    if (HARENA_LIKELY(parser.frozen() || message->GetArena() == parser.arena())) {
      if (!parser.Enter() || Access::Parse(*message, ptr, end, parser)) return nullptr;
      parser.Leave();
      uint32_t end_tag;
      const char* const group_end = parser.TakeEnd(&end_tag);
      return end_tag == tag + 1 ? group_end : nullptr;
    }
  }
  const char* body_end = ptr;
  const char* const group_end = SkipGroup(tag, ptr, end, parser, &body_end);
  if (group_end == nullptr) return nullptr;
  return ReadByProtobuf(ptr, body_end, parser, *message) ? group_end : nullptr;
}

/// Elements of a repeated field of messages that follow each other. Frozen, they are pending until
/// their number is known.
template <typename T>
class ElementReader {
 public:
  ElementReader(RepeatedPtrField<T>& field, Parser& parser) noexcept
      : field_(field), parser_(parser), first_(parser.pending_count()) {}

  /// A new element.
  HARENA_INLINE T* Add() {
    if constexpr (HasCodec<T>) {
      if (HARENA_LIKELY(parser_.frozen())) {
        T* const message = parser_.NewMessage<T>();
        parser_.Push(message);
        return message;
      }
    }
    return field_.Add();
  }

  HARENA_NOINLINE void End() {
    if (parser_.pending_count() != first_) AppendPending(parser_, field_, first_);
  }

 private:
  RepeatedPtrField<T>& field_;
  Parser& parser_;
  const size_t first_;
};

/// Reads a packed field of varints.
template <Varint kKind, typename T>
HARENA_NOINLINE const char* ReadPackedVarints(const char* ptr, const char* end, Parser& parser,
                                              RepeatedField<T>& field) {
  size_t size;
  ptr = ReadLength(ptr, end, &size);
  if (HARENA_UNLIKELY(ptr == nullptr) || size == 0) return ptr;
  end = ptr + size;
  // A last number that goes on behind the end.
  if (HARENA_UNLIKELY(static_cast<uint8_t>(end[-1]) >= 0x80)) return nullptr;
  if (HARENA_LIKELY(parser.frozen() && !layout::HasArray(field))) {
    // Two are what ReadVarints() may write beyond the numbers.
    constexpr size_t kMore = 2;
    // Room for the most there may be.
    size_t room_bytes = layout::ArrayBytesOf<T>(size + kMore);
    if (HARENA_UNLIKELY(!parser.IsLittle(room_bytes))) {
      const auto count = static_cast<size_t>(CountVarints(ptr, static_cast<int>(size)));
      room_bytes = layout::ArrayBytesOf<T>(count + kMore);
    }
    T* const numbers = layout::ArrayAt<T>(parser.AllocateForAWhile(room_bytes));
    T* const numbers_end = ReadVarints<kKind>(ptr, end, numbers);
    if (HARENA_UNLIKELY(numbers_end == nullptr)) return nullptr;
    parser.KeepUpTo(std::max(numbers_end, numbers + layout::kElementsMin<T>));
    layout::SetArray(field, parser.arena(), numbers, static_cast<size_t>(numbers_end - numbers));
    return end;
  }
  const int count = CountVarints(ptr, static_cast<int>(size));
  const int before = field.size();
  field.Reserve(before + count + 2);
  T* const numbers = field.AddNAlreadyReserved(count);
  if (HARENA_LIKELY(ReadVarints<kKind>(ptr, end, numbers) != nullptr)) return end;
  field.Truncate(before);
  return nullptr;
}

/// Reads a packed field of numbers of fixed size.
template <typename T>
HARENA_NOINLINE const char* ReadPackedFixed(const char* ptr, const char* end, Parser& parser,
                                            RepeatedField<T>& field) {
  size_t size;
  ptr = ReadLength(ptr, end, &size);
  if (HARENA_UNLIKELY(ptr == nullptr || size % sizeof(T) != 0)) return nullptr;
  if (size == 0) return ptr;
  const size_t count = size / sizeof(T);
  if (HARENA_LIKELY(parser.frozen() && !layout::HasArray(field))) {
    T* const numbers = layout::ArrayAt<T>(parser.Allocate(layout::ArrayBytesOf<T>(count)));
    std::memcpy(numbers, ptr, size);
    layout::SetArray(field, parser.arena(), numbers, count);
    return ptr + size;
  }
  field.Reserve(field.size() + static_cast<int>(count));
  std::memcpy(field.AddNAlreadyReserved(static_cast<int>(count)), ptr, size);
  return ptr + size;
}

/// Reads a packed field of a closed enum: values that have no name become unknown fields.
const char* ReadPackedClosedEnum(const char* ptr, const char* end, Parser& parser,
                                 RepeatedField<int>& field, bool (*is_valid)(int), int number,
                                 google::protobuf::internal::InternalMetadata& metadata);

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
