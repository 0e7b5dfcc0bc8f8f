#include "harena/pb/wire/counted_stream.h"

#include <algorithm>

namespace harena::pb::wire {

bool CountedStream::Count(const char* data, size_t size) noexcept {
  if (!walker_.Walk(data, size)) return false;
  const size_t bytes = walker_.heap_bytes() - charged_bytes_;
  if (bytes != 0 && !scope_.TryChargeOutside(bytes, &refusal_)) {
    refused_ = true;
    return false;
  }
  charged_bytes_ += bytes;
  return true;
}

bool CountedStream::Next(const void** data, int* size) {
  if (refused_ || at_ == wire_bytes_ || !input_.Next(data, size)) return false;
  const size_t left = wire_bytes_ - at_;
  auto bytes = static_cast<size_t>(*size);
  if (bytes > left) {
    input_.BackUp(static_cast<int>(bytes - left));
    bytes = left;
    *size = static_cast<int>(bytes);
  }
  const size_t known = std::min(bytes, seen_ - at_);
  at_ += bytes;
  seen_ = std::max(seen_, at_);
  return known == bytes || Count(static_cast<const char*>(*data) + known, bytes - known);
}

void CountedStream::BackUp(int count) {
  input_.BackUp(count);
  at_ -= static_cast<size_t>(count);
}

}  // namespace harena::pb::wire
