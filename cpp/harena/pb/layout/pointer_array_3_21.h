// protobuf's repeated fields of pointers from the inside. For strings their functions are the
// library's: a call for each element, and with the checks that the library was built with.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include <google/protobuf/repeated_ptr_field.h>

#include "harena/base/compiler.h"
#include "harena/pb/layout/expose.h"
#include "harena/pb/layout/family.h"

#if HARENA_CODEC && HARENA_PROTOBUF_3_21
namespace harena::pb::layout {

using google::protobuf::RepeatedPtrField;
using Pointers = google::protobuf::internal::RepeatedPtrFieldBase;

struct PointersSize {
  using Type = int Pointers::*;
  friend constexpr Type Exposed(PointersSize);
};
struct PointersCapacity {
  using Type = int Pointers::*;
  friend constexpr Type Exposed(PointersCapacity);
};
template struct Expose<PointersSize, &Pointers::current_size_>;
template struct Expose<PointersCapacity, &Pointers::total_size_>;

/// The array, and how many of it are objects, the cleared ones included. REQUIRES: there is one,
/// which Reserve() makes.
inline void** ElementsOf(Pointers& field) noexcept;
inline void* const* ElementsOf(const Pointers& field) noexcept;
inline int& ObjectsOf(Pointers& field) noexcept;
inline void SetRep(Pointers& field, void* rep) noexcept;

// The array's type has a private name.
template <auto kRep>
struct ExposeRep {
  friend inline void** ElementsOf(Pointers& field) noexcept { return (field.*kRep)->elements; }
  friend inline void* const* ElementsOf(const Pointers& field) noexcept {
    return (field.*kRep)->elements;
  }
  friend inline int& ObjectsOf(Pointers& field) noexcept { return (field.*kRep)->allocated_size; }
  friend inline void SetRep(Pointers& field, void* rep) noexcept {
    field.*kRep = static_cast<std::remove_reference_t<decltype(field.*kRep)>>(rep);
  }
};
template struct ExposeRep<&Pointers::rep_>;

/// The base of a field, which is private.
template <typename T>
HARENA_INLINE Pointers& PointersOf(RepeatedPtrField<T>& field) noexcept {
  return (Pointers&)field;  // NOLINT(google-readability-casting): no other cast may
}
template <typename T>
HARENA_INLINE const Pointers& PointersOf(const RepeatedPtrField<T>& field) noexcept {
  return (const Pointers&)field;  // NOLINT(google-readability-casting): no other cast may
}

/// The elements of `field`, size() of them. REQUIRES: it has any.
HARENA_INLINE const std::string* const* StringsOf(
    const RepeatedPtrField<std::string>& field) noexcept {
  return reinterpret_cast<const std::string* const*>(ElementsOf(PointersOf(field)));
}

/// Whether the field keeps objects that were cleared.
template <typename T>
HARENA_INLINE bool HasCleared(RepeatedPtrField<T>& field) noexcept {
  Pointers& pointers = PointersOf(field);
  return pointers.*Exposed(PointersCapacity()) != 0 &&
         ObjectsOf(pointers) != pointers.*Exposed(PointersSize());
}

template <typename T>
HARENA_INLINE bool HasArray(RepeatedPtrField<T>& field) noexcept {
  return PointersOf(field).*Exposed(PointersCapacity()) != 0;
}

/// Bytes of an array of so many elements, with what stands before them: their number.
constexpr size_t ArrayBytes(size_t count) noexcept { return (count + 1) * sizeof(void*); }

/// Makes `place`, of ArrayBytes(count) on the field's arena, the array of a field that has none,
/// and the objects its elements.
template <typename T>
HARENA_INLINE void SetArray(RepeatedPtrField<T>& field, void* place, void* const* objects,
                            size_t count) noexcept {
  Pointers& pointers = PointersOf(field);
  SetRep(pointers, place);
  ObjectsOf(pointers) = static_cast<int>(count);
  std::memcpy(ElementsOf(pointers), objects, count * sizeof(void*));
  pointers.*Exposed(PointersCapacity()) = static_cast<int>(count);
  pointers.*Exposed(PointersSize()) = static_cast<int>(count);
}

/// The end of the elements. REQUIRES: there is an array.
template <typename T>
HARENA_INLINE void** EndOf(RepeatedPtrField<T>& field) noexcept {
  Pointers& pointers = PointersOf(field);
  return ElementsOf(pointers) + pointers.*Exposed(PointersSize());
}

/// Counts `count` objects that stand at the end as elements.
/// REQUIRES: there is room for them, and no cleared object.
template <typename T>
HARENA_INLINE void Grow(RepeatedPtrField<T>& field, int count) noexcept {
  Pointers& pointers = PointersOf(field);
  pointers.*Exposed(PointersSize()) += count;
  ObjectsOf(pointers) += count;
}

/// Adds an object that is on the field's arena. REQUIRES: no cleared object.
template <typename T>
HARENA_INLINE void Append(RepeatedPtrField<T>& field, T* object) {
  Pointers& pointers = PointersOf(field);
  if (HARENA_UNLIKELY(pointers.*Exposed(PointersSize()) == pointers.*Exposed(PointersCapacity()))) {
    field.UnsafeArenaAddAllocated(object);
    return;
  }
  *EndOf(field) = object;
  Grow(field, 1);
}

/// Adds `count` objects that are on the field's arena.
template <typename T>
void Append(RepeatedPtrField<T>& field, void* const* objects, size_t count) {
  const auto more = static_cast<int>(count);
  field.Reserve(field.size() + more);
  if (HARENA_UNLIKELY(HasCleared(field))) {
    for (size_t i = 0; i < count; ++i) field.UnsafeArenaAddAllocated(static_cast<T*>(objects[i]));
    return;
  }
  std::memcpy(EndOf(field), objects, count * sizeof(void*));
  Grow(field, more);
}

}  // namespace harena::pb::layout
#endif  // HARENA_PROTOBUF_3_21
