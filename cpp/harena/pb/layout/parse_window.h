// The parse context of protobuf from the inside: what its inline functions do, where the compiler
// would not inline them, and what it knows and does not tell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/parse_context.h>

#include "harena/base/compiler.h"
#include "harena/pb/layout/expose.h"
#include "harena/pb/layout/support.h"

#if HARENA_CODEC
namespace harena::pb::layout {

using google::protobuf::internal::EpsCopyInputStream;
using google::protobuf::internal::ParseContext;

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
struct Depth {
  using Type = int ParseContext::*;
  friend constexpr Type Exposed(Depth);
};
struct NextChunk {
  using Type = const char* EpsCopyInputStream::*;
  friend constexpr Type Exposed(NextChunk);
};
struct ChunkSize {
  using Type = int EpsCopyInputStream::*;
  friend constexpr Type Exposed(ChunkSize);
};
struct OverallLimit {
  using Type = int EpsCopyInputStream::*;
  friend constexpr Type Exposed(OverallLimit);
};
struct Patch {
  using Type = char (EpsCopyInputStream::*)[2 * EpsCopyInputStream::kSlopBytes];
  friend constexpr Type Exposed(Patch);
};
struct Stream {
  using Type = google::protobuf::io::ZeroCopyInputStream* EpsCopyInputStream::*;
  friend constexpr Type Exposed(Stream);
};
template struct Expose<NextChunk, &EpsCopyInputStream::next_chunk_>;
template struct Expose<ChunkSize, &EpsCopyInputStream::size_>;
template struct Expose<OverallLimit, &EpsCopyInputStream::overall_limit_>;
template struct Expose<Patch, &EpsCopyInputStream::buffer_>;
template struct Expose<Stream, &EpsCopyInputStream::zcis_>;
template struct Expose<BufferEnd, &EpsCopyInputStream::buffer_end_>;
template struct Expose<LimitEnd, &EpsCopyInputStream::limit_end_>;
template struct Expose<Limit, &EpsCopyInputStream::limit_>;
template struct Expose<Depth, &ParseContext::depth_>;

/// Bytes that can be read from `ptr` without asking for the next chunk, up to but without the 16
/// bytes of slop that always follow.
HARENA_INLINE ptrdiff_t BytesInBuffer(const ParseContext& context, const char* ptr) noexcept {
  return context.*Exposed(BufferEnd()) - ptr;
}

/// Where its chunks come from; null where it reads bytes that were there.
inline const google::protobuf::io::ZeroCopyInputStream* StreamOf(
    const ParseContext& context) noexcept {
  return context.*Exposed(Stream());
}

/// Bytes that it has and that are behind `ptr`, slop included.
inline size_t UnreadBytes(const ParseContext& context, const char* ptr) noexcept {
  const char* const next = context.*Exposed(NextChunk());
  const ptrdiff_t in_buffer = BytesInBuffer(context, ptr);
  // As its BackUp(): while it is in the patch of two chunks, the second is still to come.
  const bool patched = next != nullptr && next != context.*Exposed(Patch());
  return static_cast<size_t>(std::max<ptrdiff_t>(
      in_buffer + (patched ? context.*Exposed(ChunkSize()) : ParseContext::kSlopBytes), 0));
}

/// Whether it expects no more behind `ptr` than it may get. Of a stream without a limit nobody
/// knows until it has ended; then only what has a length of its own may be asked about.
HARENA_INLINE bool LimitIsInInput(const ParseContext& context, const char* ptr) noexcept {
  // The limit counts from the end of the buffer.
  if (HARENA_LIKELY(context.*Exposed(Limit()) <= 0)) return true;
  const int64_t overall_limit = context.*Exposed(OverallLimit());
  return context.BytesUntilLimit(ptr) <=
         static_cast<int64_t>(UnreadBytes(context, ptr)) + overall_limit;
}

/// Gives the stream back what is more than `bytes` behind `ptr`: as if the chunk had ended there.
/// REQUIRES: 64 <= bytes < UnreadBytes(), and there is a stream.
inline void CutInput(ParseContext& context, const char* ptr, size_t bytes) noexcept {
  const char* const next = context.*Exposed(NextChunk());
  if (next == nullptr) return;  // the last bytes of all
  const int cut = static_cast<int>(UnreadBytes(context, ptr) - bytes);
  if (next == context.*Exposed(Patch())) {
    const char*& buffer_end = context.*Exposed(BufferEnd());
    int& limit = context.*Exposed(Limit());
    buffer_end -= cut;
    limit += cut;
    context.*Exposed(LimitEnd()) = buffer_end + std::min(0, limit);
  }
  context.*Exposed(ChunkSize()) -= cut;
  (context.*Exposed(Stream()))->BackUp(cut);
  context.*Exposed(OverallLimit()) += cut;
}

/// The levels of nesting that may still be entered.
HARENA_INLINE int& DepthLeft(ParseContext& context) noexcept { return context.*Exposed(Depth()); }

/// ParseContext::Done(), the other way round.
HARENA_INLINE bool HasMore(ParseContext& context, const char** ptr) {
  return HARENA_LIKELY(*ptr < context.*Exposed(LimitEnd())) || !context.Done(ptr);
}

// What ParseContext's sums come to when hostile lengths make them overflow; there they may.
HARENA_INLINE int Sum(int a, int b) noexcept {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
HARENA_INLINE int Difference(int a, int b) noexcept {
  return static_cast<int>(static_cast<unsigned>(a) - static_cast<unsigned>(b));
}

/// ParseContext::PushLimit().
HARENA_INLINE int PushLimit(ParseContext& context, const char* ptr, int length) noexcept {
  const char* const buffer_end = context.*Exposed(BufferEnd());
  int& limit = context.*Exposed(Limit());
  const int inner = Sum(length, static_cast<int>(ptr - buffer_end));
  context.*Exposed(LimitEnd()) = buffer_end + std::min(0, inner);
  const int outer = limit;
  limit = inner;
  return Difference(outer, inner);
}

/// ParseContext::PopLimit().
HARENA_INLINE bool PopLimit(ParseContext& context, int delta) noexcept {
  if (HARENA_UNLIKELY(!context.EndedAtLimit())) return false;
  int& limit = context.*Exposed(Limit());
  limit = Sum(limit, delta);
  context.*Exposed(LimitEnd()) = context.*Exposed(BufferEnd()) + std::min(0, limit);
  return true;
}

}  // namespace harena::pb::layout
#endif  // HARENA_CODEC
