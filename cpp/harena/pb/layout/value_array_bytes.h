// How much room arrays of numbers take, which is the same in all releases.
#pragma once

#include <algorithm>
#include <cstddef>

#include "harena/base/compiler.h"

namespace harena::pb::layout {

/// What stands before the elements of an array.
inline constexpr size_t kArrayHeaderBytes = 8;

/// protobuf's arena wants arrays back that hold no fewer than so many elements.
template <typename T>
inline constexpr size_t kElementsMin = kArrayHeaderBytes / sizeof(T);

/// Bytes of an array of so many elements, with what stands before them.
template <typename T>
constexpr size_t ArrayBytesOf(size_t count) noexcept {
  return kArrayHeaderBytes + std::max(count, kElementsMin<T>) * sizeof(T);
}

/// The elements of an array at `place`.
template <typename T>
HARENA_INLINE T* ArrayAt(void* place) noexcept {
  return reinterpret_cast<T*>(static_cast<char*>(place) + kArrayHeaderBytes);
}

/// Where an array is that has these elements.
template <typename T>
HARENA_INLINE void* PlaceOf(T* elements) noexcept {
  return reinterpret_cast<char*>(elements) - kArrayHeaderBytes;
}

}  // namespace harena::pb::layout
