#pragma once

namespace harena::pb::layout {

/// A private member of a class of protobuf's, for `Tag`, which declares Exposed(Tag) and a Type.
/// Access is not checked where a template is instantiated explicitly, so this is legal C++, and a
/// member of another name or type fails to compile.
template <typename Tag, typename Tag::Type kMember>
struct Expose {
  friend constexpr typename Tag::Type Exposed(Tag) { return kMember; }
};

}  // namespace harena::pb::layout
