#include "harena/pb/wire/checked_stream.h"

#include <algorithm>

#if HARENA_CODEC
namespace harena::pb::wire {

CheckedStream::~CheckedStream() {
  if (chunk_bytes_ != 0) input_.BackUp(static_cast<int>(chunk_bytes_));
}

bool CheckedStream::NextOfPad(const void** data, int* size) noexcept {
  static constexpr char kPad[LengthCheck::kPadBytes] = {};
  if (!padded_ || pad_bytes_ == sizeof kPad) return false;
  *data = kPad + pad_bytes_;
  const size_t bytes =
      check_.Piece(kPad + pad_bytes_, sizeof kPad - pad_bytes_, wire_bytes_ + pad_bytes_);
  *size = static_cast<int>(bytes);
  pad_bytes_ += bytes;
  return true;
}

bool CheckedStream::Next(const void** data, int* size) {
  if (refused_ || !check_.Holds(at_ + pad_bytes_)) return false;
  const size_t left_bytes = wire_bytes_ - at_;
  if (left_bytes == 0) return NextOfPad(data, size);
  while (chunk_bytes_ == 0) {
    const void* chunk;
    int bytes;
    if (!input_.Next(&chunk, &bytes)) return false;
    chunk_ = static_cast<const char*>(chunk);
    chunk_bytes_ = static_cast<size_t>(bytes);
  }
  const size_t allowed_bytes = Allowed(left_bytes);
  if (refused_) return false;
  const size_t bytes =
      std::min(check_.Piece(chunk_, std::min(left_bytes, chunk_bytes_), at_), allowed_bytes);
  *data = chunk_;
  *size = static_cast<int>(bytes);
  chunk_ += bytes;
  chunk_bytes_ -= bytes;
  at_ += bytes;
  return true;
}

void CheckedStream::BackUp(int count) {
  auto bytes = static_cast<size_t>(count);
  const size_t of_pad = std::min(bytes, pad_bytes_);
  pad_bytes_ -= of_pad;
  bytes -= of_pad;
  if (bytes == 0) return;
  chunk_ -= bytes;
  chunk_bytes_ += bytes;
  at_ -= bytes;
  check_.BackUp(at_);
}

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
