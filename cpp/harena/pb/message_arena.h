#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <google/protobuf/arena.h>

#include "harena/pb/codec/string_store.h"
#include "harena/scope/scope.h"

namespace harena::pb {

/// The protobuf arena of a scope: where its messages live. In mode `arena` its blocks come from
/// malloc; in every other mode it starts in the rest of the scope's first block and goes on in
/// pages, so that a small request takes one block in all. In mode `codec` it also keeps the strings
/// of its messages.
///
/// Thread rule: messages may be built by several threads at once; making it is the scope's
/// thread's. Lifetime rule: ends with its scope.
class MessageArena final : public ScopeCompanion {
 public:
  /// Called by Scope::companion(); use MessageArena::Of(). Throws BudgetExceeded.
  explicit MessageArena(Scope& scope);

  ~MessageArena();

  static MessageArena& Of(Scope& scope) { return scope.companion<MessageArena>(); }

  /// The one that `arena` belongs to, when its scope is of mode `codec`; otherwise null, for any
  /// arena of the program and for null. Wait-free, a few nanoseconds. Thread rule: any thread.
  static MessageArena* FindCodec(const google::protobuf::Arena* arena) noexcept;

  google::protobuf::Arena& arena() noexcept { return *home_.arena(); }

  /// Mode `codec`. Thread rule: that of StringStore.
  codec::StringStore& strings() noexcept { return *strings_; }

  ptrdiff_t bytes_used_beyond_arena() const noexcept override;

 private:
  // The protobuf arena with a mark right before it, by which it is known for ours: protobuf gives
  // code that runs inside of messages the arena's address and nothing else.
  struct Home {
    MessageArena* owner = nullptr;
    uintptr_t mark = 0;
    alignas(google::protobuf::Arena) std::byte place[sizeof(google::protobuf::Arena)];

    google::protobuf::Arena* arena() noexcept {
      return std::launder(reinterpret_cast<google::protobuf::Arena*>(place));
    }
    const google::protobuf::Arena* arena() const noexcept {
      return std::launder(reinterpret_cast<const google::protobuf::Arena*>(place));
    }
    uintptr_t MarkHere() const noexcept;
  };

  MessageArena(Scope& scope, std::span<std::byte> start);

  const size_t start_bytes_;
  Home home_;
  std::optional<codec::StringStore> strings_;
};

}  // namespace harena::pb
