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

// What is in a message of that field and has to be looked at. In one that holds no messages nothing
// can be longer than it, which is what it says to be.
const Shape* InnerOf(const Shape& shape, uint32_t number) noexcept {
  const FieldShape* const field = shape.Find(number);
  if (field == nullptr || !field->Accepts(kLengthDelimited)) return nullptr;
  return field->message != nullptr && field->message->holds_messages() ? field->message : nullptr;
}

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
      inner = InnerOf(*level.shape, tag >> 3);
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

// As Next() over and over, for as long as tags have one byte, lengths two, and all of them are
// there for sure.
void Outline::FollowShort(const Chunk& chunk, size_t place, size_t& fields_left) noexcept {
  constexpr size_t kBytesMax = 1 + kVarintBytesMax;
  if (known_end_ < chunk.at || chunk.bytes < kBytesMax) return;
  const size_t there_end = chunk.at + chunk.bytes - kBytesMax;
  size_t at = known_end_;
  Level level = levels_[depth_ - 1];
  while (at <= place && at <= there_end && fields_left > 0) {
    if (at == level.end) {
      if (depth_ == 1) break;
      level = levels_[--depth_ - 1];
      continue;
    }
    const auto* const field = reinterpret_cast<const uint8_t*>(chunk.data) + (at - chunk.at);
    const uint8_t tag = field[0];
    if (tag < 8 || tag >= 0x80) break;
    size_t end = at;
    switch (tag & 7) {
      case kVarint: {
        size_t bytes = 1;
        while (field[bytes] >= 0x80 && bytes < kVarintBytesMax) ++bytes;
        if (field[bytes] < 0x80) end += 1 + bytes;
        break;
      }
      case kFixed64:
        end += 1 + 8;
        break;
      case kFixed32:
        end += 1 + 4;
        break;
      case kLengthDelimited: {
        if (field[1] >= 0x80 && field[2] >= 0x80) break;
        const size_t header = field[1] < 0x80 ? 2 : 3;
        const size_t bytes = (field[1] & 0x7f) | (header == 2 ? 0 : size_t{field[2]} << 7);
        const Shape* const inner =
            level.shape->MayBeMessage(tag) ? InnerOf(*level.shape, tag >> 3) : nullptr;
        if (inner == nullptr) {
          end += header + bytes;
        } else if (at + header + bytes <= level.end && depth_ < levels_.size()) {
          end += header;
          levels_[depth_++] = level = {.shape = inner, .end = end + bytes};
        }
        break;
      }
      default:
        break;
    }
    if (end == at || end > level.end) break;
    at = end;
    --fields_left;
  }
  known_end_ = at;
}

void Outline::Follow(const Chunk& chunk, size_t place, size_t& fields_left) noexcept {
  while (depth_ > 0 && known_end_ <= place && fields_left > 0) {
    FollowShort(chunk, place, fields_left);
    if (known_end_ > place || fields_left == 0) break;
    --fields_left;
    if (!Next(chunk)) depth_ = 0;
  }
}

}  // namespace harena::pb::wire
