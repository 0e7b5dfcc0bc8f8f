// The repeated fields of numbers of protobuf 36 from the inside.
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

#if HARENA_CODEC && HARENA_PROTOBUF_36
namespace harena::pb::layout {

using google::protobuf::RepeatedField;
/// What stands before the elements.
using RepeatedHeader = google::protobuf::internal::HeapRep;
static_assert(sizeof(RepeatedHeader) == kArrayHeaderBytes);

struct NumbersRep {
  using Base = google::protobuf::internal::RepeatedFieldBase;
  using Type = google::protobuf::internal::SooRep Base::*;
  friend constexpr Type Exposed(NumbersRep);
};
template struct Expose<NumbersRep, &NumbersRep::Base::soo_rep_>;

/// The part of a field that is the same for all types of elements. Its base is private.
template <typename T>
HARENA_INLINE google::protobuf::internal::SooRep& RepOf(RepeatedField<T>& field) noexcept {
  return ((NumbersRep::Base&)field).*  // NOLINT(google-readability-casting): no other cast may
         Exposed(NumbersRep());
}

/// Whether there is an array, or elements in the field itself.
template <typename T>
HARENA_INLINE bool HasArray(RepeatedField<T>& field) noexcept {
  const auto& rep = RepOf(field);
  return !rep.is_soo() || rep.size() != 0;
}

/// Makes elements that ArrayAt() gave, `count` of them, the array of a field that has none.
template <typename T>
HARENA_INLINE void SetArray(RepeatedField<T>& field, google::protobuf::Arena* /*arena*/,
                            T* elements, size_t count) noexcept {
  const auto capacity = static_cast<uint32_t>(std::max(count, kElementsMin<T>));
  auto& rep = RepOf(field);
  rep.set_non_soo(::new (PlaceOf(elements)) RepeatedHeader(capacity));
  rep.set_size(static_cast<int>(count));
}

}  // namespace harena::pb::layout
#endif  // HARENA_PROTOBUF_36
