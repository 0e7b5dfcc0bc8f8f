#include "harena/pb/wire/length_check.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>

#include "harena/base/compiler.h"
#include "harena/pb/layout/input_window.h"
#include "harena/pb/wire/byte_block.h"

#if HARENA_CODEC
namespace harena::pb::wire {
namespace {

constexpr uint64_t kLastBit = uint64_t{1} << (kBlockBytes - 1);
constexpr size_t kSlopBytes = LengthCheck::Context::kSlopBytes;
// More than a length of two bytes tells.
constexpr size_t kFarBytes = 0x4100;
// The outline is followed so far ahead, and a field more for so many bytes that need not be looked
// at.
constexpr size_t kFarFieldBytes = 1024;
constexpr size_t kBytesPerField = 256;
constexpr size_t kFalseAlarmsMax = 2;
// A cut for so many bytes costs less than to follow the outline.
constexpr size_t kBytesPerCut = 256;

// The least that the second byte of a length can be which is longer than `bytes`.
uint8_t SecondByteMin(size_t bytes) noexcept {
  return static_cast<uint8_t>(std::min<size_t>(bytes >> 7, 0x80));
}

bool IsHigh(char byte) noexcept { return static_cast<uint8_t>(byte) >= 0x80; }

// Where lengths of several bytes may begin: with a high byte behind a low one, a tag's last.
// `high_before` is whether the byte before was high.
uint64_t Beginnings(uint64_t high, uint64_t second, uint64_t high_before) noexcept {
  // The second byte of the last one is not seen here.
  return high & ~(high << 1 | high_before) & (second >> 1 | kLastBit);
}

// Low bytes with at least so many high ones behind as a length of `kBytesMin` bytes has. It cannot
// be seen of the last ones, so that blocks have to overlap.
template <int kBytesMin>
uint64_t BeforeLongOnes(uint64_t high) noexcept {
  const uint64_t two = (high >> 1) & (high >> 2);
  return ~high & (kBytesMin == 3 ? two : two & (high >> 3));
}
template <int kBytesMin>
constexpr size_t kStepBytes = kBlockBytes - (kBytesMin - 1);

// Goes on before `end` to a block in which a length of three bytes or more begins.
const char* SkipBlocks(const char* next, const char* end, uint64_t& high_before) noexcept {
  const char* const begin = next;
  for (; end - next >= static_cast<ptrdiff_t>(kBlockBytes); next += kStepBytes<3>) {
    if (BeforeLongOnes<3>(HighBits(next)) != 0) break;
  }
  if (next != begin) high_before = IsHigh(next[-1]) ? 1 : 0;
  return next;
}

// The `left` bytes at `next`, fewer than a block, with zeros behind.
std::array<char, kBlockBytes> LastBlock(const char* next, size_t left) noexcept {
  std::array<char, kBlockBytes> block = {};
  std::memcpy(block.data(), next, left);
  return block;
}

}  // namespace

bool LengthCheck::Watch(Context& context) noexcept {
  const bool all_known = chunk_end_ == wire_bytes_ && scanned_ == wire_bytes_ && count_ == 0;
  if (tags_ == nullptr || all_known) return false;
  context_ = &context;
  layout::GrowInput(context, static_cast<int>(kPadBytes));
  return true;
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

// Whether to cut behind what may be a lie at `at` without asking the outline.
bool LengthCheck::MayCutAt(size_t at) noexcept {
  if (cuts_made_ * kBytesPerCut > at) return false;
  ++cuts_made_;
  return true;
}

// Behind the tag that ends at `tag_end`, position `at`: where a length ends that is longer than
// what follows it; 0 where there is none, or not all of it.
size_t LengthCheck::LengthEnd(const char* tag_end, const char* end, size_t at) const noexcept {
  uint64_t length = 0;
  const size_t bytes_max = std::min(kLengthBytesMax, static_cast<size_t>(end - tag_end));
  for (size_t i = 0; i < bytes_max; ++i) {
    const auto byte = static_cast<uint8_t>(tag_end[i]);
    length |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    const size_t length_end = at + i + 1;
    const size_t left = wire_bytes_ - std::min(wire_bytes_, length_end);
    return length > left + unnoticed_bytes_ && length <= INT_MAX ? length_end : 0;
  }
  return 0;
}

// Tags and lengths that the beginning of the chunk of `size` bytes at `data`, position `at`, cuts
// in two. Those of tags that end in its first `tags_here` bytes.
void LengthCheck::LookAtSeam(const char* data, size_t size, size_t at, size_t tags_here) noexcept {
  std::array<char, 2 * (kTagBytesMax + kLengthBytesMax)> seam;
  std::memcpy(seam.data(), carried_.data(), carried_bytes_);
  const size_t new_bytes = std::min(size, seam.size() - carried_bytes_);
  std::memcpy(seam.data() + carried_bytes_, data, new_bytes);
  const char* const end = seam.data() + carried_bytes_ + new_bytes;
  for (const char* tag_end = seam.data() + 1;
       tag_end <= seam.data() + carried_bytes_ + tags_here && tag_end < end; ++tag_end) {
    if (IsHigh(tag_end[-1]) || !IsHigh(*tag_end)) continue;
    if (!tags_->MayEndAt(seam.data(), tag_end)) continue;
    const size_t position = at + static_cast<size_t>(tag_end - seam.data()) - carried_bytes_;
    const size_t length_end = LengthEnd(tag_end, end, position);
    // What ends before was found in the chunk before.
    if (length_end > at && position >= outline_.known_end()) Push(length_end + kSlopBytes);
  }
}

// For the seam with the next one.
void LengthCheck::Carry(const char* data, size_t size) noexcept {
  std::array<char, kTagBytesMax + kLengthBytesMax> carried;
  const size_t from_chunk = std::min(size, carried.size());
  const size_t from_before = std::min(carried_bytes_, carried.size() - from_chunk);
  std::memcpy(carried.data(), carried_.data() + carried_bytes_ - from_before, from_before);
  std::memcpy(carried.data() + from_before, data + size - from_chunk, from_chunk);
  carried_ = carried;
  carried_bytes_ = from_before + from_chunk;
}

void LengthCheck::BeginChunk(const char* data, size_t size, size_t at) noexcept {
  if (at == wire_bytes_ && at != 0) Carry(last_chunk_, at - chunk_begin_);
  chunk_begin_ = at;
  chunk_end_ = at + size;
  scanned_ = at;
  if (carried_bytes_ != 0) {
    const size_t tags_here = std::min(size, kTagBytesMax);
    LookAtSeam(data, size, at, tags_here);
    scanned_ += tags_here;
  }
  // Behind the last one come zeros or, mostly, nothing.
  if (chunk_end_ == wire_bytes_) {
    last_chunk_ = data;
  } else {
    Carry(data, size);
  }
}

// Goes on behind scanned_ with the outline, where long fields save looking at what they hold.
void LengthCheck::FollowFar(const Outline::Chunk& chunk) noexcept {
  while (fields_left_ > 0 && chunk_end_ > scanned_ + kFarFieldBytes) {
    outline_.Follow(chunk, scanned_ + kFarFieldBytes, fields_left_);
    if (outline_.known_end() <= scanned_) return;
    fields_left_ += (outline_.known_end() - scanned_) / kBytesPerField;
    scanned_ = std::min(outline_.known_end(), chunk_end_);
  }
}

// Looks at what may be a lie behind the tag that ends at `tag_end`. Whether it was one, or led to
// more than that: then scanned_ and the cuts say how to go on.
bool LengthCheck::Suspect(const Outline::Chunk& chunk, const char* tag_end) noexcept {
  const size_t position = chunk.at + static_cast<size_t>(tag_end - chunk.data);
  const size_t length_end = LengthEnd(tag_end, chunk.data + chunk.bytes, position);
  if (length_end == 0) return false;
  scanned_ = position;
  if (!MayCutAt(position)) {
    size_t fields_max = SIZE_MAX;
    outline_.Follow(chunk, scanned_, fields_max);
    if (outline_.known_end() > scanned_) {
      scanned_ = std::min(outline_.known_end(), chunk_end_);
      // Numbers and hashes everywhere: following is cheaper than looking.
      if (++false_alarms_ == kFalseAlarmsMax) fields_left_ = SIZE_MAX / 2;
      return true;
    }
  }
  Push(length_end + kSlopBytes);
  return true;
}

// From `next` on, for lengths of two bytes or more.
void LengthCheck::FindAny(const Outline::Chunk& chunk, const char* next) noexcept {
  const char* const end = chunk.data + chunk.bytes;
  // Far from the end of the input, a length that is too great has three bytes at least.
  const char* const far_end =
      wire_bytes_ > chunk.at + kFarBytes
          ? chunk.data + std::min(chunk.bytes, wire_bytes_ - chunk.at - kFarBytes)
          : chunk.data;
  uint64_t high_before = 1;  // what begins at scanned_ is known
  while (next < end) {
    next = SkipBlocks(next, far_end, high_before);
    const auto left = static_cast<size_t>(end - next);
    if (left == 0) break;
    std::array<char, kBlockBytes> last;
    if (left < kBlockBytes) last = LastBlock(next, left);
    const char* const block = left < kBlockBytes ? last.data() : next;
    const size_t position = chunk.at + static_cast<size_t>(next - chunk.data);
    const size_t reach = std::min(wire_bytes_, position + kBlockBytes + kLengthBytesMax);
    const uint64_t high = HighBits(block);
    const uint64_t second = AtLeast(block, SecondByteMin(wire_bytes_ - reach + kUnnoticedBytes));
    for (uint64_t lengths = Beginnings(high, second, high_before); lengths != 0;
         lengths &= lengths - 1) {
      const char* const tag_end = next + std::countr_zero(lengths);
      if (tags_->MayEndAt(chunk.data, tag_end) && Suspect(chunk, tag_end)) return;
    }
    high_before = high >> (kBlockBytes - 1);
    next += std::min(left, kBlockBytes);
  }
  scanned_ = chunk_end_;
}

// The same for longer ones.
template <int kBytesMin>
void LengthCheck::FindLong(const Outline::Chunk& chunk, const char* next) noexcept {
  const char* const end = chunk.data + chunk.bytes;
  // Whether something was found in the block at `next`, whose high bytes these are.
  const auto look = [&](uint64_t high) {
    for (uint64_t before = BeforeLongOnes<kBytesMin>(high); HARENA_UNLIKELY(before != 0);
         before &= before - 1) {
      const char* const tag_end = next + std::countr_zero(before) + 1;
      if (tags_->MayEndAt(chunk.data, tag_end) && Suspect(chunk, tag_end)) return true;
    }
    return false;
  };
  for (; end - next >= static_cast<ptrdiff_t>(kBlockBytes); next += kStepBytes<kBytesMin>) {
    if (look(HighBits(next))) return;
  }
  if (next < end && look(HighBits(LastBlock(next, static_cast<size_t>(end - next)).data()))) return;
  scanned_ = chunk_end_;
}

// Goes on behind scanned_, to the next place to cut at or to the chunk's end.
void LengthCheck::FindNext(const char* data, size_t at) noexcept {
  const Outline::Chunk chunk = {
      .data = data - (at - chunk_begin_), .bytes = chunk_end_ - chunk_begin_, .at = chunk_begin_};
  FollowFar(chunk);
  const char* const next = chunk.data + (scanned_ - chunk_begin_);
  if (unnoticed_bytes_ >= kMuchHeldBytes) {
    FindLong<4>(chunk, next);
  } else if (unnoticed_bytes_ >= kHeldBytes) {
    FindLong<3>(chunk, next);
  } else {
    FindAny(chunk, next);
  }
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
