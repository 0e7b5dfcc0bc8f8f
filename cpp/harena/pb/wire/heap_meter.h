// What protobuf really keeps on the heap for a message that is being parsed, held against budgets.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <google/protobuf/arena.h>
#include <google/protobuf/unknown_field_set.h>

#include "harena/mem/budget.h"
#include "harena/pb/wire/heap_notes.h"
#include "harena/scope/scope.h"

#if HARENA_CODEC
namespace harena::pb::wire {

/// Whether so much may be held of the process's budget only to save time: every thread may be
/// parsing. Thread rule: any thread.
bool ProcessMaySpare(size_t bytes) noexcept;

/// Unknown fields take up to 48 times their wire from the heap, which no hook of protobuf sees. The
/// meter lets the parser have its input in pieces. While a piece is parsed, the most that it could
/// take is held of the request's budget, and of the process's where that has a limit. When the
/// parser comes for the next one, what there is now is looked up and charged instead. Pieces are as
/// large as the room that is left allows, so a request far from its limits gets its input in one.
///
/// Thread rule: the scope's thread, which is the one that parses. Lifetime rule: ends before its
/// scope and its message.
class HeapMeter {
 public:
  /// `wire_bytes` of input are parsed into a message on `arena`. REQUIRES: Works(), and
  /// ReadsInOrder() of the message. Throws std::bad_alloc.
  HeapMeter(Scope& scope, const google::protobuf::Arena& arena, size_t wire_bytes);
  ~HeapMeter();
  HeapMeter(const HeapMeter&) = delete;
  HeapMeter& operator=(const HeapMeter&) = delete;

  /// Whether messages of this arena can be metered here: the layout is known, and nobody else fills
  /// the arena meanwhile.
  static bool Works(const Scope& scope, const google::protobuf::Arena* arena) noexcept;
  /// Makes Works() say no, everywhere: for tests of what is done instead.
  static void TurnOff(bool off) noexcept { off_.store(off, std::memory_order_relaxed); }

  /// Whether the whole input can be let through at once; then what it may take is held, and
  /// `spare_bytes` beside. Throws std::bad_alloc.
  bool TryAll(size_t spare_bytes);
  /// Whether a first piece of use can be had, together with what strings may take that are read
  /// from pieces. If so, `spare_bytes` will be held beside.
  bool MayTryPieces(size_t spare_bytes) noexcept;

  /// How much of the remaining input, `bytes_left`, may be let through now. 0 when a budget refuses
  /// the least that would be of use; refusal() then says which. Throws std::bad_alloc.
  size_t NextPiece(size_t bytes_left);
  const Refusal& refusal() const noexcept { return refusal_; }

  /// Charges what there is in the end to the scope, for as long as it lives, and holds nothing
  /// more. False when a budget refuses, which it does not unless others took the room since. Throws
  /// std::bad_alloc.
  bool Finish();

 private:
  // Vectors of unknown fields to which the parser may still add. When one is full, the old and the
  // new one are there at once.
  struct Growing {
    size_t bytes;       // that they may take beside what they have
    size_t most_bytes;  // that one of them may
  };

  static constinit inline std::atomic<bool> off_{false};

  void Begin();
  void Observe();
  void Forget() noexcept;
  size_t FinalBytes(size_t strings) const noexcept;
  void AddSet(const google::protobuf::UnknownFieldSet& set, bool open) noexcept;
  size_t GrowthBytes(size_t piece_bytes) const noexcept;
  size_t RoomBytes(const Budget& budget, bool held) const noexcept;
  size_t GoodBytes() const noexcept;
  size_t PieceBytesMin() const noexcept;
  bool Hold(size_t bytes) noexcept;
  void Release(size_t bytes) noexcept;

  Scope& scope_;
  Budget& budget_;
  const google::protobuf::Arena& arena_;
  const size_t wire_bytes_;
  const size_t slack_bytes_;
  const bool process_limited_;
  bool began_ = false;
  // Held beside each piece: to spare, and what strings may take beside their wire while they are
  // read.
  size_t fixed_bytes_ = 0;
  size_t held_bytes_ = 0;

  HeapNotes own_notes_;
  HeapNotes& notes_;
  std::array<Growing, 32> growing_;  // by the bits of how many places they have left
  size_t observed_bytes_ = 0;
  size_t before_bytes_ = 0;  // what was there before the parse
  size_t work_ = 0;          // entries looked at the last time,
  size_t work_total_ = 0;
  Refusal refusal_;
};

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
