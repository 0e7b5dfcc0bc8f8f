// The numbers of packed fields, many at once; with PDEP and PEXT where they are fast.
#pragma once

#include <cstdint>

#include <google/protobuf/wire_format_lite.h>

#include "harena/pb/codec/varint.h"

namespace harena::pb::codec {

/// The bytes in [data, data + size) that end a varint.
int CountVarints(const char* data, int size) noexcept;

/// Reads the varints in [ptr, end), as many as CountVarints() tells, to `values`, which has room
/// for two more. The end of what it wrote; null when a varint has more than ten bytes. REQUIRES:
/// the last byte ends a varint, and the 16 bytes from `end` can be read.
template <Varint kKind, typename T>
T* ReadVarints(const char* ptr, const char* end, T* values) noexcept;

/// Writes numbers of one of protobuf's types so that they end at `to`. REQUIRES: there are
/// kVarintBytesMax bytes below it for each, and eight more.
template <google::protobuf::internal::WireFormatLite::FieldType kType, typename T>
uint8_t* PutVarints(uint8_t* to, const T* values, int count) noexcept;

}  // namespace harena::pb::codec
