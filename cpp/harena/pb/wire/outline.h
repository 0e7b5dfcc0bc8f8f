// How far the fields of a message are known to be no longer than what is around them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "harena/pb/wire/shape.h"

namespace harena::pb::wire {

/// Follows the fields of a message and of the messages in it as far as it is asked to, over what
/// strings and messages without messages hold, and never goes back; so to follow all of an input
/// costs no more than to go through its fields once. Where it cannot follow, it stays: at lengths
/// that are lies, groups, what is no message, far down, and where a chunk was passed before it was
/// followed to its end. Thread rule: one thread. Lifetime rule: the shape must outlive it. Reads no
/// byte outside of the chunk that it is given.
class Outline {
 public:
  /// Of `wire_bytes` of input that are a message of this shape; without one it follows nothing.
  Outline(const Shape* shape, size_t wire_bytes) noexcept;

  /// A part of the input: `bytes` of it at `data`, which is position `at`.
  struct Chunk {
    const char* data;
    size_t bytes;
    size_t at;
  };

  /// Goes on until known_end() is behind position `place`, it cannot, or `fields_left`, which it
  /// counts down, is 0. REQUIRES: chunks come in their order.
  void Follow(const Chunk& chunk, size_t place, size_t& fields_left) noexcept;
  /// The position before which all messages are within those around them, and no string is believed
  /// to be longer than they are. It may be behind the chunk.
  size_t known_end() const noexcept { return known_end_; }

 private:
  struct Level {
    const Shape* shape;
    size_t end;
  };

  bool Next(const Chunk& chunk) noexcept;
  void FollowShort(const Chunk& chunk, size_t place, size_t& fields_left) noexcept;

  size_t known_end_ = 0;  // where the next field begins
  std::array<Level, 16> levels_;
  size_t depth_ = 0;  // 0 when it cannot go on
};

}  // namespace harena::pb::wire
