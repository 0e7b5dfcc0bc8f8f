// The repeated fields of numbers of protobuf 29 from the inside.
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

#if HARENA_CODEC && HARENA_PROTOBUF_29
namespace harena::pb::layout {

using google::protobuf::RepeatedField;
/// What stands before the elements.
struct RepeatedHeader {
  google::protobuf::Arena* arena;
};
static_assert(sizeof(RepeatedHeader) == kArrayHeaderBytes);
static_assert(sizeof(RepeatedHeader) == sizeof(google::protobuf::internal::HeapRep<8>));

// The name of its only member, for each type of element.
template <typename T>
struct NumbersRep;

#define HARENA_EXPOSE_FIELD(T)                                           \
  struct Rep_##T {                                                       \
    using Type = google::protobuf::internal::SooRep RepeatedField<T>::*; \
    friend constexpr Type Exposed(Rep_##T);                              \
  };                                                                     \
  template struct Expose<Rep_##T, &RepeatedField<T>::soo_rep_>;          \
  template <>                                                            \
  struct NumbersRep<T> : Rep_##T {}
HARENA_EXPOSE_FIELD(bool);
HARENA_EXPOSE_FIELD(int32_t);
HARENA_EXPOSE_FIELD(int64_t);
HARENA_EXPOSE_FIELD(uint32_t);
HARENA_EXPOSE_FIELD(uint64_t);
HARENA_EXPOSE_FIELD(float);
HARENA_EXPOSE_FIELD(double);
#undef HARENA_EXPOSE_FIELD

template <typename T>
HARENA_INLINE google::protobuf::internal::SooRep& RepOf(RepeatedField<T>& field) noexcept {
  return field.*Exposed(NumbersRep<T>());
}

/// Whether there is an array, or elements in the field itself.
template <typename T>
HARENA_INLINE bool HasArray(RepeatedField<T>& field) noexcept {
  const auto& rep = RepOf(field);
  return !rep.is_soo() || rep.size(/*is_soo=*/true) != 0;
}

/// Makes elements that ArrayAt() gave, `count` of them, the array of a field that has none.
template <typename T>
HARENA_INLINE void SetArray(RepeatedField<T>& field, google::protobuf::Arena* arena, T* elements,
                            size_t count) noexcept {
  ::new (PlaceOf(elements)) RepeatedHeader{arena};
  auto& rep = RepOf(field);
  rep.set_non_soo(/*was_soo=*/true, static_cast<int>(std::max(count, kElementsMin<T>)), elements);
  rep.set_size(/*is_soo=*/false, static_cast<int>(count));
}

}  // namespace harena::pb::layout
#endif  // HARENA_PROTOBUF_29
