#include "harena/pb/wire/length_check.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>

#include "harena/pb/layout/input_window.h"

#if HARENA_CODEC
namespace harena::pb::wire {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080;
constexpr size_t kSlopBytes = LengthCheck::Context::kSlopBytes;
// The greatest number of two bytes.
constexpr size_t kTwoBytesMax = 0x3fff;

uint64_t Load(const char* data) noexcept {
  uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

bool IsHigh(char byte) noexcept { return static_cast<uint8_t>(byte) >= 0x80; }

}  // namespace

void LengthCheck::Watch(Context& context) noexcept {
  context_ = &context;
  if (tags_ != nullptr) layout::GrowInput(context, static_cast<int>(kPadBytes));
}

bool LengthCheck::Holds(size_t at) noexcept {
  if (lied_) return false;
  if (context_ == nullptr) return true;
  lied_ = !layout::EndUnlessWithin(*context_,
                                   static_cast<int64_t>(wire_bytes_) - static_cast<int64_t>(at));
  return !lied_;
}

void LengthCheck::Push(size_t cut) noexcept {
  if (count_ == cuts_.size()) return;
  cuts_[(first_ + count_++) % cuts_.size()] = cut;
}

// Behind the tag that ends at `tag_end`, position `at`: where a length ends that is longer than
// what follows it; 0 where there is none, or not all of it.
size_t LengthCheck::LengthEnd(const char* begin, const char* tag_end, const char* end,
                              size_t at) const noexcept {
  if (!tags_->MayEndAt(begin, tag_end)) return 0;
  uint64_t length = 0;
  const size_t bytes_max = std::min(kLengthBytesMax, static_cast<size_t>(end - tag_end));
  for (size_t i = 0; i < bytes_max; ++i) {
    const auto byte = static_cast<uint8_t>(tag_end[i]);
    length |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    const size_t length_end = at + i + 1;
    const size_t left = wire_bytes_ - std::min(wire_bytes_, length_end);
    return length > left + kUnnoticedBytes && length <= INT_MAX ? length_end : 0;
  }
  return 0;
}

void LengthCheck::BeginChunk(const char* data, size_t size, size_t at) noexcept {
  // Tags and lengths that the chunk's beginning cuts in two.
  std::array<char, 2 * (kTagBytesMax + kLengthBytesMax)> seam;
  std::memcpy(seam.data(), carried_.data(), carried_bytes_);
  const size_t new_bytes = std::min(size, seam.size() - carried_bytes_);
  std::memcpy(seam.data() + carried_bytes_, data, new_bytes);
  const char* const end = seam.data() + carried_bytes_ + new_bytes;
  const size_t tags_here = std::min(size, kTagBytesMax);
  for (const char* tag_end = seam.data() + 1;
       tag_end <= seam.data() + carried_bytes_ + tags_here && tag_end < end; ++tag_end) {
    if (IsHigh(tag_end[-1]) || !IsHigh(*tag_end)) continue;
    const auto offset = static_cast<size_t>(tag_end - seam.data());
    const size_t length_end = LengthEnd(seam.data(), tag_end, end, at + offset - carried_bytes_);
    // What ends before was found in the chunk before.
    if (length_end > at) Push(length_end + kSlopBytes);
  }
  chunk_begin_ = at;
  chunk_end_ = at + size;
  scanned_ = at + tags_here;
  // For the next one.
  std::array<char, kTagBytesMax + kLengthBytesMax> carried;
  const size_t from_chunk = std::min(size, carried.size());
  const size_t from_before = std::min(carried_bytes_, carried.size() - from_chunk);
  std::memcpy(carried.data(), carried_.data() + carried_bytes_ - from_before, from_before);
  std::memcpy(carried.data() + from_before, data + size - from_chunk, from_chunk);
  carried_ = carried;
  carried_bytes_ = from_before + from_chunk;
}

// Goes on behind scanned_, to the next place to cut at or to the chunk's end.
void LengthCheck::FindNext(const char* data, size_t at) noexcept {
  const char* const begin = data - (at - chunk_begin_);
  const char* const end = begin + (chunk_end_ - chunk_begin_);
  const char* next = begin + (scanned_ - chunk_begin_);
  const auto position = [&](const char* place) {
    return chunk_begin_ + static_cast<size_t>(place - begin);
  };
  const auto found = [&](const char* tag_end) {
    const size_t length_end = LengthEnd(begin, tag_end, end, position(tag_end));
    if (length_end == 0) return false;
    Push(length_end + kSlopBytes);
    scanned_ = position(tag_end);
    return true;
  };
  while (end - next >= static_cast<ptrdiff_t>(sizeof(uint64_t) + 2)) {
    // Tags end with a low byte; a length of several bytes begins with a high one.
    uint64_t ends = ~Load(next) & Load(next + 1) & kHighBits;
    // Far from the end of the input, with two.
    if (wire_bytes_ > position(next) + kTwoBytesMax + 2 * sizeof(uint64_t)) ends &= Load(next + 2);
    for (; ends != 0; ends &= ends - 1) {
      if (found(next + std::countr_zero(ends) / 8 + 1)) return;
    }
    next += sizeof(uint64_t);
  }
  for (; end - next >= 2; ++next) {
    if (!IsHigh(next[0]) && IsHigh(next[1]) && found(next + 1)) return;
  }
  scanned_ = chunk_end_;
}

size_t LengthCheck::Piece(const char* data, size_t size, size_t at) noexcept {
  if (tags_ == nullptr) return size;
  if (at == chunk_end_) BeginChunk(data, size, at);
  for (;;) {
    while (count_ > 0 && cuts_[first_] <= at) {
      first_ = (first_ + 1) % cuts_.size();
      --count_;
    }
    if (scanned_ == chunk_end_ || (count_ > 0 && cuts_[first_] <= scanned_)) break;
    FindNext(data, at);
  }
  return count_ == 0 ? size : std::min(size, cuts_[first_] - at);
}

void LengthCheck::BackUp(size_t at) noexcept {
  if (at >= chunk_end_) return;
  count_ = 0;
  constexpr size_t kBefore = kSlopBytes + kLengthBytesMax;
  scanned_ = std::max(at, chunk_begin_ + kBefore + kTagBytesMax) - kBefore;
}

}  // namespace harena::pb::wire
#endif  // HARENA_CODEC
