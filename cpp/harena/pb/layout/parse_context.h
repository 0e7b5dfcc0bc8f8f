// The parse context of protobuf from the inside: the rest of its input.
#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>
#include <optional>

#include <google/protobuf/parse_context.h>

#include "harena/base/compiler.h"
#include "harena/pb/layout/expose.h"
#include "harena/pb/layout/family.h"

#if HARENA_CODEC
namespace harena::pb::layout {

using google::protobuf::internal::EpsCopyInputStream;
using google::protobuf::internal::ParseContext;

struct SlopBytes {
  using Type = int;
  friend constexpr Type Exposed(SlopBytes);
};
struct BufferEnd {
  using Type = const char* EpsCopyInputStream::*;
  friend constexpr Type Exposed(BufferEnd);
};
struct LimitEnd {
  using Type = const char* EpsCopyInputStream::*;
  friend constexpr Type Exposed(LimitEnd);
};
struct Limit {
  using Type = int EpsCopyInputStream::*;
  friend constexpr Type Exposed(Limit);
};
struct NextChunk {
  using Type = const char* EpsCopyInputStream::*;
  friend constexpr Type Exposed(NextChunk);
};
struct NextBuffer {
  using Type = const char* (EpsCopyInputStream::*)();
  friend constexpr Type Exposed(NextBuffer);
};
template struct Expose<SlopBytes, EpsCopyInputStream::kSlopBytes>;
template struct Expose<BufferEnd, &EpsCopyInputStream::buffer_end_>;
template struct Expose<LimitEnd, &EpsCopyInputStream::limit_end_>;
template struct Expose<Limit, &EpsCopyInputStream::limit_>;
template struct Expose<NextChunk, &EpsCopyInputStream::next_chunk_>;
template struct Expose<NextBuffer, &EpsCopyInputStream::Next>;

/// Bytes behind a buffer's end that can be read.
inline constexpr int kSlopBytes = Exposed(SlopBytes());

/// How many bytes are left from `ptr` on, if they are in the buffer, all of them; else nothing.
inline std::optional<size_t> RestInBuffer(const ParseContext& context, const char* ptr) noexcept {
  const int limit = context.*Exposed(Limit());
  if (limit > kSlopBytes) return std::nullopt;
  const ptrdiff_t bytes = context.*Exposed(BufferEnd()) + limit - ptr;
  if (bytes < 0) return std::nullopt;
  return static_cast<size_t>(bytes);
}

/// Reads all that is left from `ptr` on, a buffer after the other: `append` gets each, and returns
/// false to stop. Where it ends; null when it does not, or `append` stopped it. As protobuf's
/// AppendUntilEnd(), but also where the input has no limit.
template <typename Append>
const char* ReadRest(ParseContext& context, const char* ptr, Append append) {
  if (ptr - context.*Exposed(BufferEnd()) > context.*Exposed(Limit())) return nullptr;
  while (context.*Exposed(Limit()) > kSlopBytes) {
    // Behind the last buffer of all there is nothing.
    const bool last = context.*Exposed(NextChunk()) == nullptr;
    const char* const end = context.*Exposed(BufferEnd()) + (last ? 0 : kSlopBytes);
    if (!append(ptr, static_cast<size_t>(end - ptr))) return nullptr;
    ptr = (context.*Exposed(NextBuffer()))();
    if (ptr == nullptr) return context.*Exposed(LimitEnd());
    // What overlaps with the buffer before.
    ptr += kSlopBytes;
  }
  const char* const end = context.*Exposed(BufferEnd()) + context.*Exposed(Limit());
  return append(ptr, static_cast<size_t>(end - ptr)) ? end : nullptr;
}

}  // namespace harena::pb::layout
#endif  // HARENA_CODEC
