// Whether a message has extensions, without a call.
#pragma once

#include <google/protobuf/extension_set.h>

#include "harena/base/compiler.h"
#include "harena/pb/layout/expose.h"
#include "harena/pb/layout/family.h"

#if HARENA_SERIALIZER
namespace harena::pb::layout {

struct ExtensionCount {
  using Type = uint16_t google::protobuf::internal::ExtensionSet::*;
  friend constexpr Type Exposed(ExtensionCount);
};
template struct Expose<ExtensionCount, &google::protobuf::internal::ExtensionSet::flat_size_>;

/// Whether a set has no extension, not even a cleared one.
HARENA_INLINE bool IsEmpty(const google::protobuf::internal::ExtensionSet& set) noexcept {
  return set.*Exposed(ExtensionCount()) == 0;
}

}  // namespace harena::pb::layout
#endif  // HARENA_SERIALIZER
