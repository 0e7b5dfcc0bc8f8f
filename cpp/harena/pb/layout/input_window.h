// What a parse context expects of its input and what there is of it, compared. Apart from what
// generated parsers include.
#pragma once

#include <climits>
#include <cstdint>
#include <cstring>

#include "harena/pb/layout/parse_window.h"

#if HARENA_CODEC
namespace harena::pb::layout {

/// The stream has `bytes` more than the limit tells.
inline void GrowInput(ParseContext& context, int bytes) noexcept {
  int& overall_limit = context.*Exposed(OverallLimit());
  if (overall_limit != INT_MAX) overall_limit += bytes;
}

/// While it asks its stream for more: whether it expects no more than `left` bytes behind all that
/// it has got. If it does, what it has and has not read becomes an end, in place of more that is as
/// false. REQUIRES: it gets no more.
inline bool EndUnlessWithin(ParseContext& context, int64_t left) noexcept {
  // The limit counts from the end of the buffer; behind that stand the bytes of slop.
  if (context.*Exposed(Limit()) <= left + ParseContext::kSlopBytes) return true;
  // They were moved here before it asked.
  std::memset(context.*Exposed(Patch()), 0, ParseContext::kSlopBytes);
  return false;
}

}  // namespace harena::pb::layout
#endif  // HARENA_CODEC
