#include "harena/pb/wire/metered_stream.h"

#include <algorithm>
#include <new>

#include "harena/pb/layout/parse_window.h"

#if HARENA_CODEC
namespace harena::pb::wire {

size_t MeteredStream::NextPiece(size_t bytes_left) noexcept {
  size_t bytes = 0;
  try {
    bytes = meter_.NextPiece(bytes_left);
    refusal_ = meter_.refusal();
  } catch (const std::bad_alloc&) {
    refusal_ = {.bytes_wanted = bytes_left};
  }
  refused_ = bytes == 0;
  return bytes;
}

size_t MeteredStream::Allowed(size_t bytes_left) noexcept {
  if (!metering_) return bytes_left;
  if (at_ >= allowed_until_) allowed_until_ = at_ + NextPiece(bytes_left);
  return allowed_until_ - at_;
}

bool MeteredStream::Begin(google::protobuf::internal::ParseContext& context,
                          const char* ptr) noexcept {
  metering_ = true;
  // A part of the wire that was put together somewhere else is read from there, all of it.
  const bool ours = layout::StreamOf(context) == this;
  const size_t unread_bytes = layout::UnreadBytes(context, ptr);
  const size_t left_bytes = wire_bytes_ - at_ + (ours ? unread_bytes : 0);
  const size_t piece_bytes = NextPiece(ours ? left_bytes : std::max(left_bytes, unread_bytes));
  if (refused_) return false;
  if (piece_bytes >= unread_bytes) return true;
  if (ours) {
    layout::CutInput(context, ptr, piece_bytes);
    return true;
  }
  refused_ = true;
  return false;
}

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
