// What a protobuf arena will destroy at its end, from the inside.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include "harena/base/compiler.h"
#include "harena/pb/layout/expose.h"
#include "harena/pb/layout/support.h"

#if HARENA_CODEC
namespace harena::pb::layout {

using google::protobuf::Arena;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;
using google::protobuf::internal::SerialArena;
using google::protobuf::internal::ThreadSafeArena;
using CleanupNode = SerialArena::CleanupNode;

struct ArenaParts {
  using Type = ThreadSafeArena Arena::*;
  friend constexpr Type Exposed(ArenaParts);
};
struct ArenaThreads {
  using Type = std::atomic<SerialArena*> ThreadSafeArena::*;
  friend constexpr Type Exposed(ArenaThreads);
};
struct UnknownEntries {
  using Type = std::vector<UnknownField> UnknownFieldSet::*;
  friend constexpr Type Exposed(UnknownEntries);
};
template struct Expose<ArenaParts, &Arena::impl_>;
template struct Expose<ArenaThreads, &ThreadSafeArena::threads_>;
template struct Expose<UnknownEntries, &UnknownFieldSet::fields_>;

/// A block of an arena, and the notes of what is to be destroyed that stand at its end. New ones
/// are put in front of the others.
struct NotedBlock {
  const void* block = nullptr;
  const CleanupNode* begin = nullptr;
  const CleanupNode* end = nullptr;
};

/// The block that a thread's part of an arena fills now, and the one before `block`.
inline NotedBlock NewestBlock(const SerialArena& part) noexcept;
inline NotedBlock BlockBefore(const NotedBlock& block) noexcept;
/// Whether `part` is the calling thread's.
inline bool IsOwn(const SerialArena& part) noexcept;

// The types of these have private names.
template <auto kHead, auto kLimit, auto kThread>
struct ExposeBlocks {
  template <typename Block>
  static NotedBlock Noted(Block* block, const void* begin) noexcept {
    if (block == nullptr) return {};
    const auto* const end =
        reinterpret_cast<const CleanupNode*>(block->Pointer(block->size & ~size_t{7}));
    // A block that has none may say so by a start that is not there.
    const auto* const from = static_cast<const CleanupNode*>(begin);
    return {block, from == nullptr ? end : std::min(from, end), end};
  }
  template <typename Block>
  static NotedBlock Before(Block* block) noexcept {
    return Noted(block->next, block->next == nullptr ? nullptr : block->next->start);
  }
  friend inline NotedBlock NewestBlock(const SerialArena& part) noexcept {
    return Noted(part.*kHead, part.*kLimit);
  }
  friend inline NotedBlock BlockBefore(const NotedBlock& block) noexcept {
    using Pointer = std::remove_reference_t<decltype(std::declval<SerialArena&>().*kHead)>;
    return Before(static_cast<Pointer>(const_cast<void*>(block.block)));
  }
  friend inline bool IsOwn(const SerialArena& part) noexcept { return part.owner() == &kThread(); }
};
template struct ExposeBlocks<&SerialArena::head_, &SerialArena::limit_,
                             &ThreadSafeArena::thread_cache>;

/// The parts that an arena's threads have of it; the next is part->next().
inline const SerialArena* ThreadPartsOf(const Arena& arena) noexcept {
  return (arena.*Exposed(ArenaParts()).*Exposed(ArenaThreads())).load(std::memory_order_acquire);
}

/// Whether no other thread than the caller has a part of `arena`.
inline bool OnlyPartIsOwn(const Arena& arena) noexcept {
  const SerialArena* const part = ThreadPartsOf(arena);
  return part == nullptr || (part->next() == nullptr && IsOwn(*part));
}
/// Whether there are at most `parts` of them.
inline bool PartsUpTo(const Arena& arena, size_t parts) noexcept {
  const SerialArena* part = ThreadPartsOf(arena);
  for (; part != nullptr && parts != 0; --parts) part = part->next();
  return part == nullptr;
}

/// The vector in which unknown fields stand.
inline const std::vector<UnknownField>& EntriesOf(const UnknownFieldSet& set) noexcept {
  return set.*Exposed(UnknownEntries());
}

/// What a message that has unknown fields points to: InternalMetadata::Container, which an arena
/// makes when the message gets its first one, and destroys.
struct UnknownContainer {
  Arena* arena;
  UnknownFieldSet fields;
};

/// Which functions destroy containers. It is one template's, of which each shared library may have
/// an instance of its own. Thread rule: any thread.
class ContainerEnds {
 public:
  using End = void (*)(void*);

  /// Whether containers in messages of that type are known from now on. Tries it out, with a
  /// message of it on an arena: not for parsers, but for what is done once for each type. Throws
  /// std::bad_alloc.
  static bool Learn(const google::protobuf::Message& prototype);

  static bool Know(End end) noexcept {
    for (const std::atomic<End>& one : ends_) {
      const End known = one.load(std::memory_order_relaxed);
      if (known == end) return true;
      if (known == nullptr) return false;
    }
    return false;
  }

 private:
  static bool Add(End end) noexcept;

  static constinit inline std::array<std::atomic<End>, 32> ends_{};
};

/// The container that a note is of, or null for notes of anything else.
inline const UnknownFieldSet* ContainerOf(const CleanupNode& node) noexcept {
  if (!ContainerEnds::Know(node.cleanup)) return nullptr;
  return &static_cast<const UnknownContainer*>(node.elem)->fields;
}

/// How far the notes of an arena have been looked at. Bound by the number of threads that may have
/// parts of it; an arena of more is not for this.
class CleanupMarks {
 public:
  static constexpr size_t kPartsMax = 4;

  /// Calls `found` with each container that was noted since the last call, and counts into
  /// `*others` what else was. False when there are too many parts.
  template <typename Found>
  bool Look(const Arena& arena, size_t* others, Found found) {
    for (const SerialArena* part = ThreadPartsOf(arena); part != nullptr; part = part->next()) {
      Mark* const mark = MarkOf(part);
      if (mark == nullptr) return false;
      const NotedBlock newest = NewestBlock(*part);
      if (HARENA_LIKELY(newest.block == mark->block && newest.begin == mark->begin)) continue;
      for (NotedBlock noted = newest; noted.block != nullptr; noted = BlockBefore(noted)) {
        const bool known = noted.block == mark->block;
        LookAt(noted.begin, known ? mark->begin : noted.end, others, found);
        if (known) break;
      }
      mark->block = newest.block;
      mark->begin = newest.begin;
    }
    return true;
  }

 private:
  struct Mark {
    const SerialArena* part = nullptr;
    const void* block = nullptr;
    const CleanupNode* begin = nullptr;
  };

  Mark* MarkOf(const SerialArena* part) noexcept {
    for (Mark& mark : marks_) {
      if (mark.part == nullptr) mark.part = part;
      if (mark.part == part) return &mark;
    }
    return nullptr;
  }

  template <typename Found>
  static void LookAt(const CleanupNode* node, const CleanupNode* end, size_t* others,
                     Found& found) {
    // Nearly all of them are strings, whose destructor this is, unless another library has its own,
    // and messages of few types, one after the other.
    const auto string = &google::protobuf::internal::arena_destruct_object<std::string>;
    ContainerEnds::End recent = string;
    *others += static_cast<size_t>(end - node);
    const auto usual = [&](const CleanupNode& note) {
      return note.cleanup == string || note.cleanup == recent;
    };
    const auto look = [&](const CleanupNode& note) {
      if (HARENA_LIKELY(usual(note))) return;
      if (const UnknownFieldSet* set = ContainerOf(note)) {
        found(*set);
        --*others;
      } else {
        recent = note.cleanup;
      }
    };
    // Four at a time: kept short, as this is done for each string of every request.
    for (; end - node >= 4; node += 4) {
      if (HARENA_LIKELY(usual(node[0]) && usual(node[1]) && usual(node[2]) && usual(node[3]))) {
        continue;
      }
      for (size_t i = 0; i < 4; ++i) look(node[i]);
    }
    for (; node < end; ++node) look(*node);
  }

  std::array<Mark, kPartsMax> marks_;
};

/// Calls `visit` with each note of `arena`.
template <typename Visit>
void ForEachNote(const Arena& arena, Visit visit) {
  for (const SerialArena* part = ThreadPartsOf(arena); part != nullptr; part = part->next()) {
    for (NotedBlock noted = NewestBlock(*part); noted.block != nullptr;
         noted = BlockBefore(noted)) {
      for (const CleanupNode* node = noted.begin; node < noted.end; ++node) visit(*node);
    }
  }
}

/// How many of the strings that `arena` will destroy have the smallest body there is, which may be
/// longer than their text; what is no string of ours counts as one.
inline size_t CountSmallBodies(const Arena& arena) noexcept {
  size_t count = 0;
  ForEachNote(arena, [&count](const CleanupNode& node) {
    if (node.cleanup != &google::protobuf::internal::arena_destruct_object<std::string>) {
      ++count;
      return;
    }
    const size_t capacity = static_cast<const std::string*>(node.elem)->capacity();
    count += capacity > 15 && capacity <= 30;
  });
  return count;
}

/// Whether arenas of the protobuf that this program runs with are laid out as those of the one that
/// it was compiled with: tried out once. Thread rule: any thread.
bool CleanupWindowWorks() noexcept;

}  // namespace harena::pb::layout
#endif  // HARENA_CODEC
