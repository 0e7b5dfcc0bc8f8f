#include "harena/pb/wire/walker.h"

#include <algorithm>

#include "harena/base/compiler.h"

namespace harena::pb::wire {
namespace {

// Unknown fields stand in a vector, 16 bytes each, which doubles: while it grows, the old one and
// the new one hold three times what is in use.
constexpr size_t kEntryBytes = 48;
// A string beside the entry, or a set of unknown fields with the first block of its vector, as
// malloc rounds them up.
constexpr size_t kStringBytes = 48;
constexpr size_t kSetBytes = 48;
// Of varints, seven from each byte.
constexpr int kTagBitsMax = 5 * 7;
constexpr int kVarintBitsMax = 10 * 7;
// A string too long for its own object takes room for 30 characters at least.
constexpr uint64_t kLocalMax = 15;
constexpr uint64_t kBodyBytesMin = 31;
// Of an entry of a map that is not just a key and a value: what the arena keeps of its key beside
// the map's own, in the entry and in a node that was made and thrown away.
constexpr size_t kKeysBeside = 2;

}  // namespace

Walker::Walker(const Shape& shape, size_t wire_bytes, int levels_max, Strings strings)
    : levels_max_(levels_max), strings_(strings) {
  levels_.reserve(LevelsAtFirst(levels_max));
  static_cast<void>(Enter(&shape, wire_bytes, 0));
}

bool Walker::Enter(const Shape* shape, uint64_t end, uint32_t group) {
  if (levels_.size() >= static_cast<size_t>(levels_max_)) {
    too_deep_ = true;
    return false;
  }
  // The old and the new one, while it grows.
  if (levels_.size() == levels_.capacity()) heap_bytes_ += 2 * levels_.capacity() * sizeof(Level);
  levels_.push_back({.shape = shape, .end = end, .group = group});
  return true;
}

void Walker::Leave() noexcept {
  Level& level = levels_.back();
  if (level.entry == Entry::kKey) heap_bytes_ += kKeysBeside * level.key_bytes;
  keys_passing_ -= level.key_bytes;
  levels_.pop_back();
}

void Walker::LeaveEnded() noexcept {
  while (levels_.size() > 1 && at_ >= levels_.back().end) Leave();
}

void Walker::OnEntryField(uint32_t number) noexcept {
  Level& level = levels_.back();
  if (level.entry == Entry::kOther) return;
  const bool validated = number == 2 && field_ != nullptr && field_->closed_enum != nullptr;
  if (field_ != nullptr && !validated && number == static_cast<uint32_t>(level.entry) + 1) {
    level.entry = static_cast<Entry>(number);
    return;
  }
  level.entry = Entry::kOther;
  heap_bytes_ += kKeysBeside * level.key_bytes;
}

void Walker::OnKey(uint64_t bytes) noexcept {
  if (bytes <= kLocalMax) return;
  Level& level = levels_.back();
  const size_t body_bytes = std::max(bytes + 1, kBodyBytesMin);
  if (level.entry == Entry::kOther) heap_bytes_ += kKeysBeside * body_bytes;
  level.key_bytes += body_bytes;
  keys_passing_ += body_bytes;
  keys_passing_max_ = std::max(keys_passing_max_, keys_passing_);
}

void Walker::OnUnknown(size_t object_bytes) noexcept {
  const Shape* const shape = levels_.back().shape;
  if (shape == nullptr || shape->keeps_unknown()) heap_bytes_ += kEntryBytes + object_bytes;
}

void Walker::OnEnum(uint64_t value) noexcept {
  if (field_->closed_enum->FindValueByNumber(static_cast<int>(value)) != nullptr) return;
  // The whole entry of a map becomes a string.
  heap_bytes_ += kEntryBytes + (levels_.back().shape->keeps_unknown() ? 0 : kStringBytes);
}

bool Walker::OnTag(uint32_t tag) {
  const uint32_t number = tag >> 3;
  const auto type = static_cast<uint8_t>(tag & 7);
  if (number == 0) return false;
  const Level& level = levels_.back();
  if (type == kEndGroup) {
    if (number != level.group) return false;
    Leave();
    return true;
  }
  field_ = level.shape == nullptr ? nullptr : level.shape->Find(number);
  if (field_ != nullptr && !field_->Accepts(type)) field_ = nullptr;
  if (level.shape != nullptr && !level.shape->keeps_unknown()) OnEntryField(number);
  switch (type) {
    case kVarint:
      expect_ = Expect::kValue;
      return true;
    case kFixed64:
      skip_ = 8;
      break;
    case kFixed32:
      skip_ = 4;
      break;
    case kLengthDelimited:
      expect_ = Expect::kLength;
      return true;
    case kStartGroup: {
      const uint64_t end = level.end;
      if (field_ != nullptr) return Enter(field_->message, end, number);
      OnUnknown(kSetBytes);
      return Enter(nullptr, end, number);
    }
    default:
      return false;
  }
  if (field_ == nullptr) OnUnknown(0);
  return true;
}

bool Walker::OnLength(uint64_t bytes) {
  expect_ = Expect::kTag;
  if (bytes > std::numeric_limits<int32_t>::max()) return false;
  const uint64_t end = at_ + bytes;
  if (end > levels_.back().end) return false;
  if (field_ == nullptr) {
    OnUnknown(kStringBytes);
    const bool of_any_type = levels_.size() > 1 && levels_[levels_.size() - 2].shape != nullptr &&
                             levels_[levels_.size() - 2].shape->message_set();
    if (of_any_type) heap_bytes_ += kHeapBytesPerByte * bytes;
    skip_ = bytes;
  } else if (field_->message != nullptr) {
    if (!Enter(field_->message, end, 0)) return false;
  } else if (field_->closed_enum != nullptr) {
    packed_ = end;
    if (bytes != 0) expect_ = Expect::kValue;
  } else {
    skip_ = bytes;
    if (field_->text && !levels_.back().shape->keeps_unknown() &&
        field_ == levels_.back().shape->Find(1)) {
      OnKey(bytes);
    }
    // Tag and length are two bytes at least.
    if (strings_ == Strings::kOnHeap && field_->text && bytes > kLocalMax &&
        bytes + 2 < kBodyBytesMin) {
      heap_bytes_ += kBodyBytesMin - bytes - 2;
    }
  }
  return true;
}

bool Walker::OnVarint(uint64_t value) {
  switch (expect_) {
    case Expect::kTag:
      return OnTag(static_cast<uint32_t>(value));  // protobuf drops the other bits too
    case Expect::kLength:
      return OnLength(value);
    case Expect::kValue:
      if (field_ == nullptr) {
        OnUnknown(0);
      } else if (field_->closed_enum != nullptr) {
        OnEnum(value);
      }
      if (packed_ > at_) return true;
      packed_ = 0;
      expect_ = Expect::kTag;
      return true;
  }
  return false;
}

bool Walker::Walk(const char* data, size_t size) {
  const char* const end = data + size;
  while (data != end && !broken_ && !too_deep_) {
    if (skip_ != 0) {
      const auto bytes = std::min<uint64_t>(skip_, static_cast<uint64_t>(end - data));
      data += bytes;
      at_ += bytes;
      skip_ -= bytes;
    } else {
      const auto byte = static_cast<uint8_t>(*data++);
      ++at_;
      varint_ |= static_cast<uint64_t>(byte & 0x7f) << shift_;
      if (byte >= 0x80) {
        shift_ += 7;
        broken_ = shift_ >= (expect_ == Expect::kTag ? kTagBitsMax : kVarintBitsMax);
        continue;
      }
      const uint64_t value = varint_;
      varint_ = 0;
      shift_ = 0;
      if (HARENA_UNLIKELY(!OnVarint(value))) broken_ = !too_deep_;
    }
    if (skip_ == 0 && expect_ == Expect::kTag) LeaveEnded();
  }
  return !broken_ && !too_deep_;
}

}  // namespace harena::pb::wire
