#include "harena/pb/codec/parser.h"

#include <algorithm>

#include "harena/mem/budget.h"
#include "harena/pb/wire/heap_charge.h"

#if HARENA_CODEC
namespace harena::pb::codec {

HARENA_NOINLINE void Parser::Prepay(size_t bytes) {
  constexpr size_t kStepBytesMax = 4096;
  const size_t wanted_bytes = bytes - prepaid_bytes_;
  prepay_step_bytes_ = std::min(2 * prepay_step_bytes_, kStepBytesMax);
  size_t step_bytes = std::max(prepay_step_bytes_, wanted_bytes);
  Refusal refusal;
  if (outside_ != nullptr && !outside_->TryCharge(step_bytes, &refusal)) {
    step_bytes = wanted_bytes;
    if (!outside_->TryCharge(step_bytes, &refusal)) throw BudgetExceeded(refusal);
  }
  prepaid_bytes_ += step_bytes;
}

void Parser::ChargeForProtobuf(const google::protobuf::Descriptor* type, std::string_view wire) {
  if (outside_ == nullptr) return;
  counted_at_most_bytes_ +=
      wire::ChargeHeap(*outside_, type, wire, levels_left_ + 1, counted_at_most_bytes_);
}

void Parser::ExplainForProtobuf(const google::protobuf::Descriptor* type, std::string_view wire) {
  too_deep_ |= type != nullptr && wire::NestsDeeper(*type, wire, levels_left_ + 1);
}

char* Parser::KeepWire(size_t bytes) {
  // Messages take about as much as their wire: what fits into the same chunk costs no other.
  constexpr size_t kMessageBytesMin = 1024;
  const size_t wire_bytes = bytes + kWireSlackBytes;
  NewChunk(wire_bytes + std::clamp(bytes, kMessageBytesMin, kChunkBytesMax) + kRedzoneBytes);
  return static_cast<char*>(Allocate(wire_bytes));
}

HARENA_NOINLINE void* Parser::AllocateSlow(size_t bytes, size_t taken) {
  // What is left of a chunk is not given up for one large array.
  if (taken > kChunkBytesMax / 2 && Room() > kChunkBytesMax / 2) {
    return google::protobuf::Arena::CreateArray<char>(arena_, taken);
  }
  NewChunk(taken);
  char* const place = next_;
  next_ += taken;
  Unpoison(place, bytes);
  return place;
}

HARENA_NOINLINE void Parser::NewChunk(size_t bytes_min) {
  // Chunks grow with the message: what stays unused, of the last chunk and of the arena's blocks,
  // is little beside what is used.
  constexpr size_t kFirstChunkBytes = 2048;
  chunk_bytes_ = std::clamp(2 * chunk_bytes_, kFirstChunkBytes, kChunkBytesMax);
  size_t chunk_bytes = std::max(bytes_min, chunk_bytes_);
  if (chunk_bytes > kChunkBytesMax) {
    // A block of its own, as likely as not: all of it is of use.
    chunk_bytes = pool_.BlockBytes(chunk_bytes + kArenaHeadBytes) - kArenaHeadBytes;
  }
  next_ = google::protobuf::Arena::CreateArray<char>(arena_, chunk_bytes);
  limit_ = next_ + chunk_bytes;
  Poison(next_, chunk_bytes);
}

HARENA_NOINLINE void Parser::GrowPending() {
  const size_t used_bytes = pending_count_ * sizeof(void*);
  char* const memory = pending_ == nullptr ? pending_memory_.Take(1)
                                           : pending_memory_.Grow(2 * used_bytes, used_bytes);
  pending_ = reinterpret_cast<void**>(memory);
  pending_max_ = pending_memory_.bytes() / sizeof(void*);
}

}  // namespace harena::pb::codec
#endif  // HARENA_CODEC
