#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <google/protobuf/arena.h>

#include "harena/scope/scope.h"

namespace harena::pb {

/// The protobuf arena of a scope: where its messages live. In mode `arena` its blocks come from
/// malloc; in every other mode it starts in the rest of the scope's first block and goes on in
/// pages, so that a small request takes one block in all.
///
/// Thread rule: messages may be built by several threads at once; making it is the scope's
/// thread's. Lifetime rule: ends with its scope.
class MessageArena final : public ScopeCompanion {
 public:
  /// Called by Scope::companion(); use MessageArena::Of(). Throws BudgetExceeded.
  explicit MessageArena(Scope& scope);

  ~MessageArena();

  static MessageArena& Of(Scope& scope) { return scope.companion<MessageArena>(); }

  google::protobuf::Arena& arena() noexcept { return *arena_; }

  ptrdiff_t bytes_used_beyond_arena() const noexcept override;

 private:
  MessageArena(Scope& scope, std::span<std::byte> start);

  const size_t start_bytes_;
  std::optional<google::protobuf::Arena> arena_;
};

}  // namespace harena::pb
