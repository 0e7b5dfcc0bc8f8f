#include "harena/pb/wire/heap_meter.h"

#include <algorithm>
#include <bit>

#include "harena/base/compiler.h"
#include "harena/pb/wire/walker.h"

#if HARENA_CODEC
namespace harena::pb::wire {
namespace {

using google::protobuf::Arena;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Of the room that is left, a request holds no more than this part for what may come, and of the
// process's, which others need too, less.
constexpr size_t kRequestPart = 5;
constexpr size_t kProcessPart = 32;
// And what is held only to save time.
constexpr size_t kProcessPartToSpare = 128;
// A piece smaller than the first is not begun with, and one smaller than the second not gone on
// with: each costs a look.
constexpr size_t kFirstPieceMin = 1024;
constexpr size_t kPieceMin = 64;
// What the parser has not read of a piece when it comes for the next one.
constexpr size_t kSlopBytes = 16;
// A string of 16 characters has a body for 30.
constexpr size_t kStringExcessBytes = 15;
// Looks at what was there before cost no more than this many entries for each byte of wire: about
// what parsing them does.
constexpr size_t kWorkPerByte = 8;
// Containers, in a vector that doubles.
constexpr size_t kOwnBytes = 3 * sizeof(void*);

// Those of a kept message, or else the meter's own.
HeapNotes& NotesOf(Scope& scope, const Arena& arena, HeapNotes& own) {
  if (scope.mode() != Mode::kReuse) return own;
  HeapNotes* const kept = scope.companion<BorrowedNotes>().Of(arena);
  return kept != nullptr ? *kept : own;
}

size_t Minus(size_t a, size_t b) noexcept { return a - std::min(a, b); }

size_t BytesFor(size_t piece_bytes) noexcept {
  return kHeapBytesPerByte * (piece_bytes + kSlopBytes);
}

}  // namespace

bool ProcessMaySpare(size_t bytes) noexcept {
  const Budget& process = ProcessBudget();
  return !process.limited() ||
         bytes <= Minus(process.bytes_max(), process.bytes_used()) / kProcessPartToSpare;
}

HeapMeter::HeapMeter(Scope& scope, const Arena& arena, size_t wire_bytes)
    : scope_(scope),
      budget_(scope.budget()),
      arena_(arena),
      wire_bytes_(wire_bytes),
      slack_bytes_(scope.arena().options().pool->options().page_bytes),
      process_limited_(ProcessBudget().limited()),
      notes_(NotesOf(scope, arena, own_notes_)) {}

HeapMeter::~HeapMeter() {
  if (!began_) return;
  try {
    // After a refusal what there is stays until the scope ends.
    static_cast<void>(Finish());
  } catch (const std::bad_alloc&) {
    Release(held_bytes_);
  }
}

bool HeapMeter::Works(const Scope& scope, const Arena* arena) noexcept {
  if (arena == nullptr || off_.load(std::memory_order_relaxed)) return false;
  if (!layout::CleanupWindowWorks()) return false;
  // A kept instance's arena is nobody else's, whoever has filled it before.
  if (scope.mode() == Mode::kReuse)
    return layout::PartsUpTo(*arena, layout::CleanupMarks::kPartsMax - 1);
  return layout::OnlyPartIsOwn(*arena);
}

void HeapMeter::Begin() {
  began_ = true;
  Observe();
  before_bytes_ = observed_bytes_;
}

size_t HeapMeter::RoomBytes(const Budget& budget, bool held) const noexcept {
  return Minus(budget.bytes_max(), Minus(budget.bytes_used(), held ? held_bytes_ : 0));
}

// What may be held for what is to come.
size_t HeapMeter::GoodBytes() const noexcept {
  const size_t now_bytes = Minus(observed_bytes_, before_bytes_);
  const size_t good_bytes = Minus(RoomBytes(budget_, true), now_bytes) / kRequestPart;
  if (!process_limited_) return good_bytes + slack_bytes_;
  const size_t process_bytes = Minus(RoomBytes(ProcessBudget(), true), now_bytes) / kProcessPart;
  return std::min(good_bytes, process_bytes) + slack_bytes_;
}

bool HeapMeter::TryAll(size_t spare_bytes) {
  const size_t bytes = BytesFor(wire_bytes_) + 2 * wire_bytes_ + spare_bytes;
  if (bytes > GoodBytes() || !ProcessMaySpare(spare_bytes)) return false;
  Begin();
  return Hold(bytes + GrowthBytes(wire_bytes_));
}

bool HeapMeter::MayTryPieces(size_t spare_bytes) noexcept {
  // What is to spare makes pieces smaller, but not by much.
  const size_t bytes = BytesFor(kFirstPieceMin) + 2 * wire_bytes_ + 2 * spare_bytes;
  if (bytes > GoodBytes() || !ProcessMaySpare(spare_bytes)) return false;
  fixed_bytes_ = spare_bytes;
  return true;
}

size_t HeapMeter::NextPiece(size_t bytes_left) {
  if (began_) {
    Observe();
  } else {
    Begin();
    // A string whose body grows as pieces come: the old one and the new one, twice as long.
    fixed_bytes_ += std::min(2 * wire_bytes_, Minus(GoodBytes(), fixed_bytes_) / 2);
  }
  const size_t good_bytes = GoodBytes();
  const auto bytes_for = [this](size_t piece_bytes) {
    return fixed_bytes_ + BytesFor(piece_bytes) + GrowthBytes(piece_bytes);
  };
  const size_t least = PieceBytesMin();
  size_t piece_bytes = Minus(good_bytes, fixed_bytes_) / kHeapBytesPerByte;
  piece_bytes = std::min(std::max(Minus(piece_bytes, kSlopBytes), least), bytes_left);
  while (piece_bytes > least && bytes_for(piece_bytes) > good_bytes) {
    piece_bytes = std::max(piece_bytes / 2, least);
  }
  if (!Hold(Minus(observed_bytes_, before_bytes_) + bytes_for(piece_bytes))) return 0;
  return piece_bytes;
}

size_t HeapMeter::FinalBytes(size_t strings) const noexcept {
  return Minus(observed_bytes_, before_bytes_) +
         std::min(kStringExcessBytes * strings, wire_bytes_ / 4 * 3);
}

bool HeapMeter::Finish() {
  Observe();
  began_ = false;
  size_t final_bytes = FinalBytes(notes_.strings);
  // To look at each string costs more than their number, and is done where that matters.
  if (final_bytes > GoodBytes()) {
    final_bytes = FinalBytes(layout::CountSmallBodies(arena_));
  }
  Release(held_bytes_);
  return final_bytes == 0 || scope_.TryChargeOutside(final_bytes, &refusal_);
}

HARENA_NOINLINE void HeapMeter::Forget() noexcept { notes_ = {}; }

void HeapMeter::Observe() {
  observed_bytes_ = 0;
  work_ = 0;
  bool known = false;
  try {
    known = notes_.marks.Look(arena_, &notes_.strings, [this](const UnknownFieldSet& set) {
      notes_.containers.push_back(&set);
    });
  } catch (const std::bad_alloc&) {
    Forget();  // half of a look would be looked at again
    throw;
  }
  if (notes_.containers.empty() && known) return;
  if (!known) {
    // Parts that others made since, which cannot be.
    observed_bytes_ = 2 * wire_bytes_;
    Forget();
    return;
  }
  growing_.fill({0, 0});
  for (const UnknownFieldSet* const set : notes_.containers) AddSet(*set, true);
  observed_bytes_ += kOwnBytes * notes_.containers.size();
  work_total_ += work_;
}

// `open`: the parser may still be adding to it.
void HeapMeter::AddSet(const UnknownFieldSet& set, bool open) noexcept {
  const std::vector<UnknownField>& entries = layout::EntriesOf(set);
  observed_bytes_ += entries.capacity() * sizeof(UnknownField);
  work_ += 1 + entries.size();
  if (open) {
    // Twice as large, while the old one is there.
    const size_t bytes = 2 * entries.capacity() * sizeof(UnknownField);
    Growing& growing = growing_[std::min<size_t>(
        static_cast<size_t>(std::bit_width(entries.capacity() - entries.size())),
        growing_.size() - 1)];
    growing.bytes += bytes;
    growing.most_bytes = std::max(growing.most_bytes, bytes);
  }
  for (const UnknownField& entry : entries) {
    if (entry.type() == UnknownField::TYPE_LENGTH_DELIMITED) {
      // The body is in the wire's own bytes.
      observed_bytes_ += sizeof(std::string);
      if (entry.length_delimited().capacity() > 15) observed_bytes_ += kStringExcessBytes;
    } else if (entry.type() == UnknownField::TYPE_GROUP) {
      observed_bytes_ += sizeof(UnknownFieldSet);
      AddSet(entry.group(), open && &entry == &entries.back());
    }
  }
}

// Beside the most for each byte: vectors that are nearly full grow with the first of them.
size_t HeapMeter::GrowthBytes(size_t piece_bytes) const noexcept {
  if (notes_.containers.empty()) return 0;
  // Another message is entered with two bytes, and an entry is one more.
  const size_t times = piece_bytes / 3 + 1;
  size_t bytes = 0;
  for (size_t bits = 0; bits < growing_.size(); ++bits) {
    const size_t free_least = bits == 0 ? 0 : size_t{1} << (bits - 1);
    if (free_least > piece_bytes + kSlopBytes) break;
    bytes += std::min(growing_[bits].bytes, times * growing_[bits].most_bytes);
  }
  return bytes;
}

size_t HeapMeter::PieceBytesMin() const noexcept {
  if (work_total_ <= kWorkPerByte * wire_bytes_ / 2) return kPieceMin;
  return std::max(kPieceMin, 2 * work_ / kWorkPerByte);
}

bool HeapMeter::Hold(size_t bytes) noexcept {
  if (bytes <= held_bytes_) {
    // Small differences are not worth a locked instruction.
    if (bytes < held_bytes_ - held_bytes_ / 8) Release(held_bytes_ - bytes);
    return true;
  }
  const size_t more_bytes = bytes - held_bytes_;
  if (!budget_.TryCharge(more_bytes, slack_bytes_, &refusal_)) return false;
  if (process_limited_ && !ProcessBudget().TryCharge(more_bytes, 0, &refusal_)) {
    budget_.Refund(more_bytes);
    return false;
  }
  held_bytes_ = bytes;
  return true;
}

void HeapMeter::Release(size_t bytes) noexcept {
  if (bytes == 0) return;
  held_bytes_ -= bytes;
  budget_.Refund(bytes);
  if (process_limited_) ProcessBudget().Refund(bytes);
}

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
