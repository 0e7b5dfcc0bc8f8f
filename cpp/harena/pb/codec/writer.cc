#include "harena/pb/codec/writer.h"

#include <algorithm>
#include <climits>

namespace harena::pb::codec {

uint8_t* Writer::Begin(size_t bytes, const google::protobuf::Arena* arena) noexcept {
  arena_ = arena;
  Free();
  block_ = pool_.TryAllocate(bytes + 2 * kSlackBytes);
  if (!block_) return nullptr;
  low_ = static_cast<uint8_t*>(block_.data) + kSlackBytes;
  end_ = static_cast<uint8_t*>(block_.data) + block_.bytes;
  return end_;
}

void Writer::Free() noexcept {
  if (block_.data != nullptr) pool_.Free(block_.data, block_.bytes);
  block_ = {};
  low_ = end_ = nullptr;
}

HARENA_NOINLINE uint8_t* Writer::Grow(uint8_t* to, size_t bytes) {
  const size_t written = BytesFrom(to);
  // protobuf's limit for a message; nobody could read more.
  const size_t wanted = std::max(2 * block_.bytes, written + bytes + 2 * kSlackBytes);
  Block larger;
  if (written + bytes <= INT_MAX) larger = pool_.TryAllocate(wanted);
  if (!larger) throw OutOfRoom();
  auto* end = static_cast<uint8_t*>(larger.data) + larger.bytes;
  std::memcpy(end - written, to, written);
  pool_.Free(block_.data, block_.bytes);
  block_ = larger;
  low_ = static_cast<uint8_t*>(block_.data) + kSlackBytes;
  end_ = end;
  return end_ - written;
}

}  // namespace harena::pb::codec
