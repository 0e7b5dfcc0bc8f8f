#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <google/protobuf/arena.h>
#include <google/protobuf/message_lite.h>

#include "harena/base/compiler.h"
#include "harena/mem/budget.h"
#include "harena/pb/arena/last_written.h"
#include "harena/pb/arena/small_memory.h"
#include "harena/pb/arena/string_slabs.h"
#include "harena/scope/scope.h"

namespace harena::pb {

namespace codec {
class ExpectedParse;
}

/// What a framework asks of a request that lacks required fields.
enum class RequiredFields : bool {
  kMayBeMissing,  ///< It is a request all the same: ParsePartial...().
  kMustBeThere,   ///< It is none: Parse...().
};

/// The protobuf arena of a scope: where its messages live. In mode `arena` its blocks come from
/// malloc; in every other mode it starts in the rest of the scope's first block and goes on in
/// pages, so that a small request takes one block in all. In mode `codec` it also keeps the strings
/// and small arrays of its messages.
///
/// Thread rule: messages may be built by several threads at once; making it is the scope's
/// thread's. Lifetime rule: ends with its scope.
class MessageArena final : public ScopeCompanion {
 public:
  /// Called by Scope::companion(); use MessageArena::Of(). Throws BudgetExceeded.
  explicit MessageArena(Scope& scope);

  ~MessageArena();

  static MessageArena& Of(Scope& scope) { return scope.companion<MessageArena>(); }

  /// The one that `arena` belongs to; null for any other arena of the program, and for null.
  /// Wait-free, a few nanoseconds. Thread rule: any thread.
  static MessageArena* Find(const google::protobuf::Arena* arena) noexcept;
  /// The same, but null too when its scope is of another mode than `codec`, or the codec does not
  /// act in this program (Capabilities()).
  static MessageArena* FindCodec(const google::protobuf::Arena* arena) noexcept;
  /// The same where it is asked for every string. `arena` is not null.
  HARENA_NO_SANITIZE static MessageArena* FindCodecInline(
      const google::protobuf::Arena* arena) noexcept;
  bool codec() const noexcept { return strings_.has_value(); }
  /// Whether the codec writes its messages. Not those of a sampled scope: protobuf writes without a
  /// block, which would take the place of others in the quarantine, and which nobody could misuse.
  bool codec_writes() const noexcept { return codec() && !sampled_; }

  /// For adapters whose frameworks parse requests in frames of their own: the next parse of
  /// `message`, by whomever, is held to the scope's limits. A refusal makes it fail, as bad input
  /// does, and `refused_parse()` then says why; `malformed_parse()` tells that the input was bad.
  /// After either the message may only end. In mode `codec` what it makes is frozen: see
  /// ParseFrozen(). Both need the message's type to have a codec; others are parsed as if nothing
  /// had been said. Within a limit, a parse whose required fields must be there fails before
  /// protobuf would list in its log which ones are missing, each by its path: a list that may be a
  /// hundred times the wire. REQUIRES: `message` lives here and is empty, and all that is left of
  /// the input is its wire; once parsed, whoever gets it gets it as const. Thread rule: the scope's
  /// thread, which is also the one that parses.
  void ExpectParse(const google::protobuf::MessageLite& message, RequiredFields fields) noexcept {
    expected_ = &message;
    required_fields_ = fields;
  }
  bool Expects(const google::protobuf::MessageLite& message) const noexcept {
    return expected_ == &message;
  }
  const std::optional<Refusal>& refused_parse() const noexcept { return refused_parse_; }
  bool malformed_parse() const noexcept { return malformed_parse_; }

  google::protobuf::Arena& arena() noexcept { return *marked_arena_.arena(); }
  /// The scope's.
  Budget& budget() noexcept { return budget_; }

  /// The scope's, where its messages' memory comes from.
  PagePool& pool() noexcept { return written_.pool(); }

  /// As of the scope: what StepTimers of the codec's writing add to.
  std::atomic<uint64_t>* serialize_nanos() noexcept { return serialize_nanos_; }

  /// Mode `codec`. Thread rules: theirs.
  StringSlabs& strings() noexcept { return *strings_; }
  SmallMemory& small_memory() noexcept { return *small_memory_; }

  /// What was written of a message of the scope, to size it (codec/serialize.h).
  LastWritten& written() noexcept { return written_; }

  ptrdiff_t bytes_used_beyond_arena() const noexcept override;
  size_t bytes_in_blocks_beyond_arena() const noexcept override;

 private:
  friend class codec::ExpectedParse;

  // The protobuf arena with a mark right before it, by which it is known for ours: protobuf gives
  // code that runs inside of messages the arena's address and nothing else. The alignment has mark
  // and arena begin in one page: wherever the arena's address can be read, the mark's can.
  struct alignas(32) MarkedArena {
    MessageArena* owner = nullptr;
    uintptr_t mark = 0;
    alignas(google::protobuf::Arena) std::byte place[sizeof(google::protobuf::Arena)];

    google::protobuf::Arena* arena() noexcept {
      return std::launder(reinterpret_cast<google::protobuf::Arena*>(place));
    }
    const google::protobuf::Arena* arena() const noexcept {
      return std::launder(reinterpret_cast<const google::protobuf::Arena*>(place));
    }
    uintptr_t MarkHere() const noexcept {
      constexpr uintptr_t kMark = 0x9e3779b97f4a7c15;
      return reinterpret_cast<uintptr_t>(this) ^ kMark;
    }
    static const MarkedArena* Around(const google::protobuf::Arena* arena) noexcept {
      return reinterpret_cast<const MarkedArena*>(reinterpret_cast<const std::byte*>(arena) -
                                                  offsetof(MarkedArena, place));
    }
    // False at an address that none of ours can have.
    static bool CanBeAround(const google::protobuf::Arena* arena) noexcept {
      return reinterpret_cast<uintptr_t>(arena) % alignof(MarkedArena) ==
             offsetof(MarkedArena, place);
    }
  };
  static_assert(offsetof(MarkedArena, place) < alignof(MarkedArena));

  MessageArena(Scope& scope, std::span<std::byte> start);
  HARENA_NO_SANITIZE static MessageArena* FindInline(const google::protobuf::Arena* arena) noexcept;
  static MessageArena* FindSlow(const google::protobuf::Arena* arena) noexcept;

  // The arena that was last found for ours on this thread. It may be gone, and another one may
  // stand in its place: the mark tells. What it saves is asking whose memory that is.
  static thread_local constinit inline const google::protobuf::Arena* last_found_ = nullptr;

  const size_t start_bytes_;
  const bool on_pages_;
  ScopeEnding& ending_;  // in the scope, which outlives its arena, as the budget
  Budget& budget_;
  OutsideCharge& outside_;
  const DecodeLimits decode_limits_;
  const bool sampled_;
  std::atomic<uint64_t>* const parse_nanos_;
  std::atomic<uint64_t>* const serialize_nanos_;
  const google::protobuf::MessageLite* expected_ = nullptr;
  RequiredFields required_fields_ = RequiredFields::kMayBeMissing;
  std::optional<Refusal> refused_parse_;
  bool malformed_parse_ = false;
  MarkedArena marked_arena_;
  LastWritten written_;
  std::optional<StringSlabs> strings_;
  std::optional<SmallMemory> small_memory_;
};

inline MessageArena* MessageArena::FindInline(const google::protobuf::Arena* arena) noexcept {
  if (HARENA_UNLIKELY(arena != last_found_)) return FindSlow(arena);
  const MarkedArena* const marked = MarkedArena::Around(arena);
  return HARENA_LIKELY(marked->mark == marked->MarkHere()) ? marked->owner : nullptr;
}

inline MessageArena* MessageArena::FindCodecInline(const google::protobuf::Arena* arena) noexcept {
  MessageArena* const found = FindInline(arena);
  return HARENA_LIKELY(found != nullptr && found->codec()) ? found : nullptr;
}

}  // namespace harena::pb
