// A parse of an input whose end is known.
#pragma once

#include <google/protobuf/arena.h>

#include "harena/pb/layout/support.h"

#if HARENA_CODEC
namespace harena::pb::codec {

/// While it stands, messages on `arena` that are parsed on this thread come from an input with a
/// limit, so that one which says to be longer than the input can be told from a group, which ends
/// where it ends. Thread rule: belongs to the thread that made it. They nest.
class BoundedParse {
 public:
  /// A null arena is nobody's.
  explicit BoundedParse(const google::protobuf::Arena* arena) noexcept : outer_(current_) {
    current_ = arena;
  }
  ~BoundedParse() { current_ = outer_; }
  BoundedParse(const BoundedParse&) = delete;
  BoundedParse& operator=(const BoundedParse&) = delete;

  /// Whether that is so. `arena` is not null.
  static bool On(const google::protobuf::Arena* arena) noexcept { return current_ == arena; }

 private:
  static thread_local constinit inline const google::protobuf::Arena* current_ = nullptr;
  const google::protobuf::Arena* const outer_;
};

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
