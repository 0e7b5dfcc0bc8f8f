// The tags behind which a message says how long it is.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message_lite.h>

#include "harena/pb/wire/shape.h"

namespace harena::pb::wire {

/// Of which fields protobuf's own code may read a length and then believe it for the fields inside:
/// messages and entries of maps, of a type and of all types below it.
/// Thread rule: any thread, nobody changes it. Lifetime rule: kept for ever.
class LengthTags {
 public:
  /// Those of any type.
  static const LengthTags& OfAny();
  /// Those of `message`'s type, if it is one of the program's; otherwise of any. For a message on
  /// an arena, without those of types that have a codec: their code looks itself, in every mode.
  /// Throws std::bad_alloc.
  static const LengthTags& Of(const google::protobuf::MessageLite& message);

  /// The type's shape, where they are those of one type.
  const Shape* shape() const noexcept { return shape_; }
  /// Whether there are none.
  bool empty() const noexcept { return !any_ && numbers_.empty(); }
  /// Whether the byte before `end` may be the last one of such a tag. Looks at no byte before
  /// `begin`. REQUIRES: begin < end, and that byte is below 0x80.
  bool MayEndAt(const char* begin, const char* end) const noexcept {
    const uint8_t uses = uses_[static_cast<uint8_t>(end[-1])];
    if (uses == 0) return false;
    if ((uses & kWhole) != 0) return true;
    return end - begin >= 2 && static_cast<uint8_t>(end[-2]) >= 0x80 && IsLongTag(begin, end);
  }

 private:
  enum Use : uint8_t { kWhole = 1, kLast = 2 };

  LengthTags() noexcept;  // of any type
  LengthTags(const Shape& shape, std::vector<uint32_t> numbers) noexcept;

  bool IsLongTag(const char* begin, const char* end) const noexcept;

  const Shape* const shape_;
  const bool any_;
  std::vector<uint32_t> numbers_;       // sorted
  std::array<uint8_t, 128> uses_ = {};  // of a byte, as a tag and as the last one of several
};

}  // namespace harena::pb::wire
