#include "harena/pb/codec/varint.h"

namespace harena::pb::codec {

const char* ReadLongVarint(const char* ptr, uint64_t* value) noexcept {
  return ReadVarintInline(ptr, value);
}

uint8_t* PutLongVarint(uint8_t* to, uint64_t value) noexcept { return PutVarintInline(to, value); }

}  // namespace harena::pb::codec
