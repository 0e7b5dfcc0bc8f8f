// The repeated fields of pointers of protobuf 29 and 36 from the inside: one pointer stands in the
// field itself, more of them in an array, whose address has its lowest bit set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <google/protobuf/repeated_ptr_field.h>

#include "harena/base/compiler.h"
#include "harena/pb/layout/expose.h"
#include "harena/pb/layout/family.h"

#if HARENA_CODEC && HARENA_PARSES_BY_TABLE
namespace harena::pb::layout {

using google::protobuf::RepeatedPtrField;
using Pointers = google::protobuf::internal::RepeatedPtrFieldBase;

struct PointersSize {
  using Type = int Pointers::*;
  friend constexpr Type Exposed(PointersSize);
};
struct PointersTagged {
  using Type = void* Pointers::*;
  friend constexpr Type Exposed(PointersTagged);
};
template struct Expose<PointersSize, &Pointers::current_size_>;
template struct Expose<PointersTagged, &Pointers::tagged_rep_or_elem_>;

/// protobuf's own type for it has a private name.
struct PointersRep {
#if HARENA_PROTOBUF_36
  int capacity;
#endif
  int objects;  // of the elements, the cleared ones included
  void* elements[1];
};
static_assert(offsetof(PointersRep, elements) == sizeof(void*));

#if HARENA_PROTOBUF_29
struct PointersRoom {
  using Type = int Pointers::*;
  friend constexpr Type Exposed(PointersRoom);
};
template struct Expose<PointersRoom, &Pointers::capacity_proxy_>;
#endif

/// Notes the capacity of an array of more than one.
HARENA_INLINE void SetCapacity([[maybe_unused]] Pointers& pointers,
                               [[maybe_unused]] PointersRep& rep, int capacity) noexcept {
#if HARENA_PROTOBUF_29
  // Beside the one in the field itself.
  pointers.*Exposed(PointersRoom()) = capacity - 1;
#else
  rep.capacity = capacity;
#endif
}

/// The base of a field, which is private.
template <typename T>
HARENA_INLINE Pointers& PointersOf(RepeatedPtrField<T>& field) noexcept {
  return (Pointers&)field;  // NOLINT(google-readability-casting): no other cast may
}
template <typename T>
HARENA_INLINE const Pointers& PointersOf(const RepeatedPtrField<T>& field) noexcept {
  return (const Pointers&)field;  // NOLINT(google-readability-casting): no other cast may
}

HARENA_INLINE uintptr_t TaggedOf(const Pointers& pointers) noexcept {
  return reinterpret_cast<uintptr_t>(pointers.*Exposed(PointersTagged()));
}
/// The array; null when there is none.
HARENA_INLINE PointersRep* RepOf(const Pointers& pointers) noexcept {
  const uintptr_t tagged = TaggedOf(pointers);
  return (tagged & 1) == 0 ? nullptr : reinterpret_cast<PointersRep*>(tagged - 1);
}

/// The elements of `field`, size() of them. REQUIRES: it has any.
HARENA_INLINE const std::string* const* StringsOf(
    const RepeatedPtrField<std::string>& field) noexcept {
  const Pointers& pointers = PointersOf(field);
  const PointersRep* const rep = RepOf(pointers);
  void* const* const elements =
      rep == nullptr ? &(pointers.*Exposed(PointersTagged())) : rep->elements;
  return reinterpret_cast<const std::string* const*>(elements);
}

/// Whether the field keeps objects that were cleared.
template <typename T>
HARENA_INLINE bool HasCleared(RepeatedPtrField<T>& field) noexcept {
  const Pointers& pointers = PointersOf(field);
  const PointersRep* const rep = RepOf(pointers);
  const int objects = rep != nullptr ? rep->objects : TaggedOf(pointers) != 0 ? 1 : 0;
  return objects != pointers.*Exposed(PointersSize());
}

/// Whether there is an array, or an object in the field itself.
template <typename T>
HARENA_INLINE bool HasArray(RepeatedPtrField<T>& field) noexcept {
  return TaggedOf(PointersOf(field)) != 0;
}

/// Bytes of what SetArray() needs for so many elements.
constexpr size_t ArrayBytes(size_t count) noexcept {
  return count == 1 ? 0 : (count + 1) * sizeof(void*);
}

/// Makes `place`, of ArrayBytes(count) on the field's arena, the array of a field that has none,
/// and the objects its elements.
template <typename T>
HARENA_INLINE void SetArray(RepeatedPtrField<T>& field, void* place, void* const* objects,
                            size_t count) noexcept {
  Pointers& pointers = PointersOf(field);
  pointers.*Exposed(PointersSize()) = static_cast<int>(count);
  if (count == 1) {
    pointers.*Exposed(PointersTagged()) = objects[0];
    return;
  }
  auto* const rep = static_cast<PointersRep*>(place);
  rep->objects = static_cast<int>(count);
  SetCapacity(pointers, *rep, static_cast<int>(count));
  std::memcpy(static_cast<void*>(rep->elements), objects, count * sizeof(void*));
  pointers.*Exposed(PointersTagged()) = static_cast<char*>(place) + 1;
}

/// Adds `count` objects that are on the field's arena.
template <typename T>
void Append(RepeatedPtrField<T>& field, void* const* objects, size_t count) {
  field.Reserve(field.size() + static_cast<int>(count));
  for (size_t i = 0; i < count; ++i) field.UnsafeArenaAddAllocated(static_cast<T*>(objects[i]));
}

}  // namespace harena::pb::layout
#endif  // HARENA_PARSES_BY_TABLE
