// protobuf's repeated fields of numbers from the inside.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include <google/protobuf/arena.h>
#include <google/protobuf/repeated_field.h>

#include "harena/base/compiler.h"
#include "harena/pb/layout/expose.h"
#include "harena/pb/layout/family.h"
#include "harena/pb/layout/value_array_bytes.h"

#if HARENA_CODEC && HARENA_PROTOBUF_3_21
namespace harena::pb::layout {

using google::protobuf::RepeatedField;

// The names of its members, for each type of element.
template <typename T>
struct PartsOf;

#define HARENA_EXPOSE_FIELD(T)                                                 \
  struct Size_##T {                                                            \
    using Type = int RepeatedField<T>::*;                                      \
    friend constexpr Type Exposed(Size_##T);                                   \
  };                                                                           \
  struct Capacity_##T {                                                        \
    using Type = int RepeatedField<T>::*;                                      \
    friend constexpr Type Exposed(Capacity_##T);                               \
  };                                                                           \
  struct Elements_##T {                                                        \
    using Type = void* RepeatedField<T>::*;                                    \
    friend constexpr Type Exposed(Elements_##T);                               \
  };                                                                           \
  template struct Expose<Size_##T, &RepeatedField<T>::current_size_>;          \
  template struct Expose<Capacity_##T, &RepeatedField<T>::total_size_>;        \
  template struct Expose<Elements_##T, &RepeatedField<T>::arena_or_elements_>; \
  template <>                                                                  \
  struct PartsOf<T> {                                                          \
    using Size = Size_##T;                                                     \
    using Capacity = Capacity_##T;                                             \
    using Elements = Elements_##T;                                             \
  }
HARENA_EXPOSE_FIELD(bool);
HARENA_EXPOSE_FIELD(int32_t);
HARENA_EXPOSE_FIELD(int64_t);
HARENA_EXPOSE_FIELD(uint32_t);
HARENA_EXPOSE_FIELD(uint64_t);
HARENA_EXPOSE_FIELD(float);
HARENA_EXPOSE_FIELD(double);
#undef HARENA_EXPOSE_FIELD

/// What stands before the elements.
struct RepeatedHeader {
  google::protobuf::Arena* arena;
};
static_assert(sizeof(RepeatedHeader) == kArrayHeaderBytes);

template <typename T>
HARENA_INLINE int& SizeOf(RepeatedField<T>& field) noexcept {
  return field.*Exposed(typename PartsOf<T>::Size());
}
template <typename T>
HARENA_INLINE int& CapacityOf(RepeatedField<T>& field) noexcept {
  return field.*Exposed(typename PartsOf<T>::Capacity());
}
/// The elements; the arena, when the capacity is 0.
template <typename T>
HARENA_INLINE void*& ElementsOf(RepeatedField<T>& field) noexcept {
  return field.*Exposed(typename PartsOf<T>::Elements());
}

template <typename T>
HARENA_INLINE bool HasArray(RepeatedField<T>& field) noexcept {
  return CapacityOf(field) != 0;
}

/// Makes elements that ArrayAt() gave, `count` of them, the array of a field on `arena` that has
/// none.
template <typename T>
HARENA_INLINE void SetArray(RepeatedField<T>& field, google::protobuf::Arena* arena, T* elements,
                            size_t count) noexcept {
  ::new (PlaceOf(elements)) RepeatedHeader{arena};
  ElementsOf(field) = elements;
  SizeOf(field) = static_cast<int>(count);
  CapacityOf(field) = static_cast<int>(std::max(count, kElementsMin<T>));
}

}  // namespace harena::pb::layout
#endif  // HARENA_PROTOBUF_3_21
