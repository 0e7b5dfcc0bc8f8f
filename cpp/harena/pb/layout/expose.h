#pragma once

namespace harena::pb::layout {

/// Makes a private member of a class known as Exposed(Tag()), where Tag names its type and declares
/// the function. Access is not checked where a template is instantiated explicitly, so this is
/// legal C++, and a member of another name or type fails to compile.
template <typename Tag, typename Tag::Type kMember>
struct Expose {
  friend constexpr typename Tag::Type Exposed(Tag) { return kMember; }
};

}  // namespace harena::pb::layout
