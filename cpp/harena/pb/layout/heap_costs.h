// What protobuf takes of the heap for messages on an arena.
#pragma once

#include <cstddef>

#include "harena/pb/layout/family.h"

namespace harena::pb::layout {

#if GOOGLE_PROTOBUF_VERSION < 4022000
/// For a string, beside its characters: nothing, it is on the arena.
inline constexpr size_t kStringObjectBytes = 0;
#else
/// For a string, beside its characters: it stands with others in a block, each twice the size of
/// the one before, which does not come from the arena's hook.
inline constexpr size_t kStringObjectBytes = 64;
#endif

#if GOOGLE_PROTOBUF_VERSION < 5029000
/// For an unknown field: it stands in a vector, 16 bytes each, which doubles. While it grows, the
/// old one and the new one hold three times what is in use.
inline constexpr size_t kUnknownFieldBytes = 48;
/// Beside that, for a group with the first block of its own vector, as malloc rounds them up.
inline constexpr size_t kUnknownObjectBytes = 48;
/// Beside that, for a string, beside its characters.
inline constexpr size_t kUnknownStringBytes = 48;
/// The most for one byte of wire: a packed value of a closed enum, of one byte, becomes a field.
inline constexpr size_t kBytesPerByte = 48;
#else
/// Unknown fields and groups are on the arena.
inline constexpr size_t kUnknownFieldBytes = 0;
inline constexpr size_t kUnknownObjectBytes = 0;
/// Strings are as those of other fields.
inline constexpr size_t kUnknownStringBytes = kStringObjectBytes;
/// The most for one byte of wire: an empty string takes two.
inline constexpr size_t kBytesPerByte = 32;
#endif

}  // namespace harena::pb::layout
