// What a meter has found on an arena, kept beside an arena that is.
#pragma once

#include <cstddef>
#include <vector>

#include <google/protobuf/arena.h>
#include <google/protobuf/unknown_field_set.h>

#include "harena/pb/layout/cleanup_window.h"
#include "harena/scope/scope.h"

#if HARENA_CODEC
namespace harena::pb::wire {

/// How far an arena has been looked at, and what of it may still grow. An arena only ever gets more
/// of both, so for a kept message's the notes of one request hold for the next, which then has
/// nothing to look at but what came since. Thread rule: whoever has the arena. Lifetime rule: of no
/// use after the arena.
struct HeapNotes {
  layout::CleanupMarks marks;
  std::vector<const google::protobuf::UnknownFieldSet*> containers;
  size_t strings = 0;  ///< And messages: what is destroyed and is no container.
};

/// Where a scope's meters find the notes of the kept message that it borrows. Thread rule: the
/// scope's.
class BorrowedNotes final : public ScopeCompanion {
 public:
  explicit BorrowedNotes(const Scope&) noexcept {}

  /// Both must outlive the scope's last parse.
  void Set(const google::protobuf::Arena& arena, HeapNotes& notes) noexcept {
    arena_ = &arena;
    notes_ = &notes;
  }
  /// Null for another arena than the last that was set.
  HeapNotes* Of(const google::protobuf::Arena& arena) const noexcept {
    return &arena == arena_ ? notes_ : nullptr;
  }

  ptrdiff_t bytes_used_beyond_arena() const noexcept override { return 0; }

 private:
  const google::protobuf::Arena* arena_ = nullptr;
  HeapNotes* notes_ = nullptr;
};

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
