#include "harena/pb/codec/writer.h"

#include <algorithm>
#include <climits>
#include <new>

namespace harena::pb::codec {

uint8_t* Writer::Begin(size_t bytes, const google::protobuf::Arena* arena) noexcept {
  arena_ = arena;
  Free();
  const Block block = pool_.TryAllocate(bytes + kStartBytes + kSlackBytes);
  return block ? Use(block) : nullptr;
}

uint8_t* Writer::Use(Block block) noexcept {
  block_ = block;
  ++blocks_;
  low_ = static_cast<uint8_t*>(block_.data) + kStartBytes;
  end_ = static_cast<uint8_t*>(block_.data) + block_.bytes;
  return end_;
}

void Writer::Free() noexcept {
  if (block_.data != nullptr) pool_.Free(block_.data, block_.bytes);
  block_ = {};
  low_ = end_ = nullptr;
}

LastWritten::Owner Writer::Release(const uint8_t* to,
                                   const google::protobuf::MessageLite& message) noexcept {
  auto* const written = ::new (block_.data) Written{&message, to, BytesFrom(to), block_.bytes};
  block_ = {};
  low_ = end_ = nullptr;
  return {written, {&pool_}};
}

HARENA_NOINLINE uint8_t* Writer::Grow(uint8_t* to, size_t bytes) {
  const size_t written = BytesFrom(to);
  // protobuf's limit for a message; nobody could read more.
  const size_t wanted = std::max(2 * block_.bytes, written + bytes + kStartBytes + kSlackBytes);
  Block larger;
  if (written + bytes <= INT_MAX) larger = pool_.TryAllocate(wanted);
  if (!larger) throw OutOfRoom();
  auto* end = static_cast<uint8_t*>(larger.data) + larger.bytes;
  std::memcpy(end - written, to, written);
  pool_.Free(block_.data, block_.bytes);
  return Use(larger) - written;
}

}  // namespace harena::pb::codec
