#include "harena/pb/wire/metered_stream.h"

#include <algorithm>
#include <new>

#include "harena/pb/layout/parse_window.h"

#if HARENA_CODEC
namespace harena::pb::wire {

MeteredStream::~MeteredStream() {
  if (chunk_bytes_ != 0) input_.BackUp(static_cast<int>(chunk_bytes_));
}

size_t MeteredStream::Allowed(size_t bytes_left) noexcept {
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

bool MeteredStream::Begin(google::protobuf::internal::ParseContext& context,
                          const char* ptr) noexcept {
  metering_ = true;
  // A part of the wire that was put together somewhere else is read from there, all of it.
  const bool ours = layout::StreamOf(context) == this;
  const size_t unread_bytes = layout::UnreadBytes(context, ptr);
  const size_t left_bytes = wire_bytes_ - at_ + (ours ? unread_bytes : 0);
  const size_t piece_bytes = Allowed(ours ? left_bytes : std::max(left_bytes, unread_bytes));
  if (refused_) return false;
  if (piece_bytes >= unread_bytes) return true;
  if (ours) {
    layout::CutInput(context, ptr, piece_bytes);
    return true;
  }
  refused_ = true;
  return false;
}

bool MeteredStream::Next(const void** data, int* size) {
  const size_t left_bytes = wire_bytes_ - at_;
  if (refused_ || left_bytes == 0) return false;
  while (chunk_bytes_ == 0) {
    const void* chunk;
    int bytes;
    if (!input_.Next(&chunk, &bytes)) return false;
    chunk_ = static_cast<const char*>(chunk);
    chunk_bytes_ = static_cast<size_t>(bytes);
  }
  size_t bytes = std::min(left_bytes, chunk_bytes_);
  if (metering_) {
    const size_t piece_bytes = Allowed(left_bytes);
    if (refused_) return false;
    bytes = std::min(bytes, piece_bytes);
  }
  *data = chunk_;
  *size = static_cast<int>(bytes);
  chunk_ += bytes;
  chunk_bytes_ -= bytes;
  at_ += bytes;
  return true;
}

void MeteredStream::BackUp(int count) {
  const auto bytes = static_cast<size_t>(count);
  chunk_ -= bytes;
  chunk_bytes_ += bytes;
  at_ -= bytes;
}

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
