#include "harena/pb/codec/packed.h"

#include <bit>
#include <cstddef>
#include <cstring>

#include <google/protobuf/parse_context.h>

#include "harena/base/compiler.h"
#include "harena/pb/codec/varint.h"

#if !defined(HARENA_BMI2)
#if defined(__x86_64__)
#define HARENA_BMI2 1
#else
#define HARENA_BMI2 0
#endif
#endif
#if HARENA_BMI2
#include <immintrin.h>
#endif

namespace harena::pb::codec {

using google::protobuf::internal::WireFormatLite;

namespace {

constexpr uint64_t kHighBits = 0x8080808080808080;

// Numbers from here on do not fit into eight bytes.
constexpr uint64_t kHuge = uint64_t{1} << 56;
HARENA_NOINLINE uint8_t* PutHuge(uint8_t* to, uint64_t value) noexcept {
  to -= VarintBytes(value);
  uint8_t* at = to;
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<uint8_t>(value | 0x80);
  *at = static_cast<uint8_t>(value);
  return to;
}

HARENA_NOINLINE VarintRead ReadHuge(const char* ptr) noexcept {
  uint64_t value = 0;
  const char* const end = google::protobuf::internal::VarintParse(ptr, &value);
  return {end, value};
}

// Three steps of masks and shifts.
namespace any {
HARENA_INLINE uint64_t Pack(uint64_t value) noexcept {
  value = (value & 0x000000000fffffff) | ((value & 0x00fffffff0000000) << 4);
  value = (value & 0x00003fff00003fff) | ((value & 0x0fffc0000fffc000) << 2);
  return (value & 0x007f007f007f007f) | ((value & 0x3f803f803f803f80) << 1);
}
HARENA_INLINE uint64_t Unpack(uint64_t bytes, uint64_t mask) noexcept {
  bytes = (bytes & mask) >> std::countr_zero(mask);
  bytes &= ~kHighBits;
  bytes = (bytes & 0x007f007f007f007f) | ((bytes & 0x7f007f007f007f00) >> 1);
  bytes = (bytes & 0x00003fff00003fff) | ((bytes & 0x3fff00003fff0000) >> 2);
  return (bytes & 0x000000000fffffff) | ((bytes & 0x0fffffff00000000) >> 4);
}
#define HARENA_TARGET
#include "harena/pb/codec/packed_loops.inc"
#undef HARENA_TARGET
}  // namespace any

#if HARENA_BMI2
// PDEP and PEXT, one instruction.
namespace bmi2 {
constexpr uint64_t kLowBits = ~kHighBits;
#define HARENA_TARGET __attribute__((target("bmi,bmi2")))
HARENA_TARGET inline uint64_t Pack(uint64_t value) noexcept { return _pdep_u64(value, kLowBits); }
HARENA_TARGET inline uint64_t Unpack(uint64_t bytes, uint64_t mask) noexcept {
  return _pext_u64(bytes, mask & kLowBits);
}
#include "harena/pb/codec/packed_loops.inc"
#undef HARENA_TARGET
}  // namespace bmi2

// AMD's before Zen 3 have them in microcode, slower than the steps.
bool HasFastBmi2() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         !__builtin_cpu_is("bdver4") && !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
}
const bool has_fast_bmi2 = HasFastBmi2();
#endif

}  // namespace

uint8_t* PutLongVarint(uint8_t* to, uint64_t value) noexcept {
  if (HARENA_UNLIKELY(value >= kHuge)) return PutHuge(to, value);
#if HARENA_BMI2
  if (HARENA_LIKELY(has_fast_bmi2)) return bmi2::Put(to, value);
#endif
  return any::Put(to, value);
}

VarintRead ReadLongVarint(const char* ptr) noexcept {
#if HARENA_BMI2
  if (HARENA_LIKELY(has_fast_bmi2)) return bmi2::ReadLong(ptr);
#endif
  return any::ReadLong(ptr);
}

int CountVarints(const char* data, int size) noexcept {
  int count = 0;
  int i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, data + i, 8);
    // The sum of eight bytes of 0 or 1.
    count += static_cast<int>(((~word & kHighBits) >> 7) * 0x0101010101010101 >> 56);
  }
  for (; i < size; ++i) count += static_cast<uint8_t>(data[i]) < 0x80;
  return count;
}

template <Varint kKind, typename T>
T* ReadVarints(const char* ptr, const char* end, T* values) noexcept {
#if HARENA_BMI2
  if (HARENA_LIKELY(has_fast_bmi2)) return bmi2::ReadVarints<kKind>(ptr, end, values);
#endif
  return any::ReadVarints<kKind>(ptr, end, values);
}

template <WireFormatLite::FieldType kType, typename T>
uint8_t* PutVarints(uint8_t* to, const T* values, int count) noexcept {
#if HARENA_BMI2
  if (HARENA_LIKELY(has_fast_bmi2)) return bmi2::PutVarints<kType>(to, values, count);
#endif
  return any::PutVarints<kType>(to, values, count);
}

template bool* ReadVarints<Varint::kPlain>(const char*, const char*, bool*) noexcept;
template int32_t* ReadVarints<Varint::kPlain>(const char*, const char*, int32_t*) noexcept;
template int64_t* ReadVarints<Varint::kPlain>(const char*, const char*, int64_t*) noexcept;
template uint32_t* ReadVarints<Varint::kPlain>(const char*, const char*, uint32_t*) noexcept;
template uint64_t* ReadVarints<Varint::kPlain>(const char*, const char*, uint64_t*) noexcept;
template int32_t* ReadVarints<Varint::kZigZag32>(const char*, const char*, int32_t*) noexcept;
template int64_t* ReadVarints<Varint::kZigZag64>(const char*, const char*, int64_t*) noexcept;

template uint8_t* PutVarints<WireFormatLite::TYPE_BOOL>(uint8_t*, const bool*, int) noexcept;
template uint8_t* PutVarints<WireFormatLite::TYPE_ENUM>(uint8_t*, const int32_t*, int) noexcept;
template uint8_t* PutVarints<WireFormatLite::TYPE_INT32>(uint8_t*, const int32_t*, int) noexcept;
template uint8_t* PutVarints<WireFormatLite::TYPE_INT64>(uint8_t*, const int64_t*, int) noexcept;
template uint8_t* PutVarints<WireFormatLite::TYPE_SINT32>(uint8_t*, const int32_t*, int) noexcept;
template uint8_t* PutVarints<WireFormatLite::TYPE_SINT64>(uint8_t*, const int64_t*, int) noexcept;
template uint8_t* PutVarints<WireFormatLite::TYPE_UINT32>(uint8_t*, const uint32_t*, int) noexcept;
template uint8_t* PutVarints<WireFormatLite::TYPE_UINT64>(uint8_t*, const uint64_t*, int) noexcept;

}  // namespace harena::pb::codec
