// What generated parsers are made of. They read from protobuf's own parse context, so that chunks,
// limits, nesting and the ends of groups are handled by the code that stock parsing uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <google/protobuf/generated_message_util.h>
#include <google/protobuf/parse_context.h>
#include <google/protobuf/repeated_field.h>
#include <google/protobuf/wire_format_lite.h>

#include "harena/base/compiler.h"
#include "harena/pb/codec/builder.h"
#include "harena/pb/codec/packed.h"
#include "harena/pb/codec/varint.h"
#include "harena/pb/layout/parse_window.h"
#include "harena/pb/layout/pointers_window.h"

#if HARENA_CODEC
namespace harena::pb::codec {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;
using google::protobuf::internal::ArenaStringPtr;
using google::protobuf::internal::ParseContext;

/// Reads the length and the bytes of a string. `*text` is good until the next read. Null on bad
/// input.
const char* ReadCutText(const char* ptr, int size, ParseContext* context, Builder& builder,
                        std::string_view* text);

HARENA_INLINE const char* ReadText(const char* ptr, ParseContext* context, Builder& builder,
                                   std::string_view* text) {
  int size;
  ptr = ReadLength(ptr, &size);
  if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
  if (HARENA_LIKELY(size <= layout::BytesInBuffer(*context, ptr) + ParseContext::kSlopBytes)) {
    *text = {ptr, static_cast<size_t>(size)};
    return ptr + size;
  }
  return ReadCutText(ptr, size, context, builder, text);
}

/// Whether `text` may be the value of the field of that full name; null stands for a field whose
/// bytes may be anything. Where it may not, that is logged as protobuf does.
bool CheckUtf8(std::string_view text, const char* utf8_name);

/// Reads a string or bytes field.
HARENA_NOINLINE const char* ReadString(const char* ptr, ParseContext* context, Builder& builder,
                                       ArenaStringPtr& field, const char* utf8_name);

/// Reads the elements of a repeated string or bytes field that follow each other, each but the
/// first behind `tag`.
const char* ReadRepeatedString(const char* ptr, ParseContext* context, Builder& builder,
                               RepeatedPtrField<std::string>& field, const char* utf8_name,
                               uint32_t tag);

/// Whether `message` is built by `builder`. Below a message that may be changed there may be parts
/// that somebody made elsewhere; these are parsed as protobuf finds right for where they live.
template <typename T>
HARENA_INLINE bool IsBuiltBy(const T& message, const Builder& builder) noexcept {
  return HARENA_LIKELY(builder.frozen()) || message.GetArena() == builder.arena();
}

/// Reads a message field that is not a group into `message`.
template <typename T>
HARENA_NOINLINE const char* ReadMessage(const char* ptr, ParseContext* context, Builder& builder,
                                        T* message) {
  if constexpr (HasCodec<T>) {
    if (HARENA_UNLIKELY(!IsBuiltBy(*message, builder))) return context->ParseMessage(message, ptr);
    int size;
    ptr = ReadLength(ptr, &size);
    if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
    const int outer_limit = layout::PushLimit(*context, ptr, size);
    if (HARENA_UNLIKELY(--layout::DepthLeft(*context) < 0)) return builder.TooDeep();
    ptr = Access::Parse(*message, ptr, context, builder);
    ++layout::DepthLeft(*context);
    // After an error the limits mean nothing any more.
    if (HARENA_UNLIKELY(ptr == nullptr || !layout::PopLimit(*context, outer_limit))) return nullptr;
    return ptr;
  } else {
    builder.DoubtRequired();
    return builder.AllowHeap(context, ptr) ? context->ParseMessage(message, ptr) : nullptr;
  }
}

/// The same for a group, whose end tag is `tag` + 1.
template <typename T>
const char* ReadGroup(const char* ptr, ParseContext* context, Builder& builder, T* message,
                      uint32_t tag) {
  if constexpr (HasCodec<T>) {
    if (!IsBuiltBy(*message, builder)) return context->ParseGroup(message, ptr, tag);
    struct {
      T* message;
      Builder& builder;
      // As protobuf calls it.
      const char* _InternalParse(  // NOLINT(bugprone-reserved-identifier)
          const char* at, ParseContext* in) {
        return Access::Parse(*message, at, in, builder);
      }
    } body{message, builder};
    return context->ParseGroup(&body, ptr, tag);
  } else {
    builder.DoubtRequired();
    return builder.AllowHeap(context, ptr) ? context->ParseGroup(message, ptr, tag) : nullptr;
  }
}

/// Elements of a repeated field that follow each other. Frozen, they are gathered on the builder's
/// stack and put into an array of the right size once their number is known.
template <typename T>
class Run {
 public:
  Run(RepeatedPtrField<T>& field, Builder& builder) noexcept
      : field_(field), builder_(builder), base_(builder.gathered().size()) {}

  /// A new element.
  HARENA_NOINLINE T* Add() {
    if constexpr (HasCodec<T>) {
      if (HARENA_LIKELY(builder_.frozen())) {
        T* const message = builder_.NewMessage<T>();
        builder_.Gather(message);
        return message;
      }
    }
    return field_.Add();
  }

  HARENA_NOINLINE void End() {
    auto& gathered = builder_.gathered();
    if (gathered.size() == base_) return;
    layout::Append(field_, gathered.data() + base_, gathered.size() - base_);
    gathered.resize(base_);
  }

 private:
  RepeatedPtrField<T>& field_;
  Builder& builder_;
  const size_t base_;
};

/// Reads a packed field of varints. `stock` is protobuf's own function for it, for what a chunk's
/// end cuts in two.
template <Varint kKind, typename T, typename Stock>
HARENA_NOINLINE const char* ReadPackedVarints(const char* ptr, ParseContext* context,
                                              Builder& builder, RepeatedField<T>& field,
                                              Stock stock) {
  const char* const start = ptr;
  int size;
  ptr = ReadLength(ptr, &size);
  if (HARENA_UNLIKELY(ptr == nullptr)) return nullptr;
  if (HARENA_UNLIKELY(size > layout::BytesInBuffer(*context, ptr))) return stock(start);
  const char* const end = ptr + size;
  // Nothing, or a last number that goes on behind the end.
  if (HARENA_UNLIKELY(size == 0)) return ptr;
  if (HARENA_UNLIKELY(static_cast<uint8_t>(end[-1]) >= 0x80)) return nullptr;
  const int before = field.size();
  const int count = CountVarints(ptr, size);
  builder.Reserve(field, count);
  if (HARENA_LIKELY(ReadVarints<kKind>(ptr, end, field.AddNAlreadyReserved(count)))) return end;
  field.Truncate(before);
  return nullptr;
}

/// Makes room for the packed numbers of fixed size whose length is at `ptr`, when all of them are
/// there. Whoever reads them then needs no more.
template <typename T>
void ReservePackedFixed(const char* ptr, ParseContext* context, Builder& builder,
                        RepeatedField<T>& field) {
  int size;
  ptr = ReadLength(ptr, &size);
  if (ptr == nullptr || size > layout::BytesInBuffer(*context, ptr)) return;
  const int count = size / static_cast<int>(sizeof(T));
  if (count != 0) builder.Reserve(field, count);
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
