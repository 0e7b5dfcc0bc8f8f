#include "harena/pb/wire/outline.h"

#include <climits>

#include "harena/base/compiler.h"

namespace harena::pb::wire {
namespace {

constexpr size_t kVarintBytesMax = 10;

// Reads what is there of one chunk, and remembers when something was not.
class Cursor {
 public:
  Cursor(const char* begin, const char* end) noexcept : at_(begin), end_(end) {}

  uint64_t Varint(size_t bytes_max) noexcept {
    if (HARENA_LIKELY(at_ < end_ && static_cast<uint8_t>(*at_) < 0x80)) {
      return static_cast<uint8_t>(*at_++);
    }
    uint64_t value = 0;
    for (size_t i = 0; i < bytes_max && at_ < end_; ++i) {
      const auto byte = static_cast<uint8_t>(*at_++);
      value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  const char* at() const noexcept { return at_; }
  bool ok() const noexcept { return ok_; }

 private:
  const char* at_;
  const char* const end_;
  bool ok_ = true;
};

}  // namespace

Outline::Outline(const Shape* shape, size_t wire_bytes) noexcept {
  if (shape == nullptr) return;
  levels_[0] = {.shape = shape, .end = wire_bytes};
  depth_ = 1;
}

// Goes over the next field, or into it. False where it cannot.
bool Outline::Next(const Chunk& chunk) noexcept {
  while (depth_ > 1 && known_end_ == levels_[depth_ - 1].end) --depth_;
  const Level level = levels_[depth_ - 1];
  if (known_end_ < chunk.at || known_end_ - chunk.at >= chunk.bytes) return false;
  Cursor cursor(chunk.data + (known_end_ - chunk.at), chunk.data + chunk.bytes);
  const auto tag = static_cast<uint32_t>(cursor.Varint(kTagBytesMax));
  if (tag >> 3 == 0) return false;
  uint64_t skip_bytes = 0;
  const Shape* inner = nullptr;
  switch (tag & 7) {
    case kVarint:
      cursor.Varint(kVarintBytesMax);
      break;
    case kFixed64:
      skip_bytes = 8;
      break;
    case kFixed32:
      skip_bytes = 4;
      break;
    case kLengthDelimited: {
      skip_bytes = cursor.Varint(kLengthBytesMax);
      const FieldShape* const field = level.shape->Find(tag >> 3);
      if (field != nullptr && field->Accepts(kLengthDelimited)) inner = field->message;
      // Nothing in it can be longer than it, which is what it says to be.
      if (inner != nullptr && !inner->holds_messages()) inner = nullptr;
      break;
    }
    default:
      return false;
  }
  if (!cursor.ok() || skip_bytes > INT_MAX) return false;
  const size_t begin = chunk.at + static_cast<size_t>(cursor.at() - chunk.data);
  const size_t end = begin + skip_bytes;
  if (end > level.end) return false;
  if (inner != nullptr) {
    if (depth_ == levels_.size()) return false;
    levels_[depth_++] = {.shape = inner, .end = end};
  }
  known_end_ = inner != nullptr ? begin : end;
  return true;
}

void Outline::Follow(const Chunk& chunk, size_t place, size_t& fields_left) noexcept {
  while (depth_ > 0 && known_end_ <= place && fields_left > 0) {
    --fields_left;
    if (!Next(chunk)) depth_ = 0;
  }
}

}  // namespace harena::pb::wire
