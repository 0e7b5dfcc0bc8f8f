// A look at a message's wire before protobuf gets it: how deep it nests, and what its unknown
// fields will take from the heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "harena/pb/wire/shape.h"

namespace harena::pb::wire {

/// The most heap that protobuf takes for one byte of wire in unknown fields: a packed value of a
/// closed enum, of one byte, becomes an entry of the unknown fields' vector.
inline constexpr size_t kHeapBytesPerByte = 48;

/// Where the message's strings will be.
enum class Strings : uint8_t { kOnHeap, kOnScope };

/// Goes through a message in pieces of any size. Every byte is looked at once, however the message
/// nests, and nothing is believed that a length says before the bytes are there.
/// Thread rule: one thread. Lifetime rule: the shape must outlive it.
class Walker {
 public:
  /// `wire_bytes` is how long the message is, beyond which no part of it may say to go.
  /// `levels_max` is how many levels of messages there may be, the message itself included.
  Walker(const Shape& shape, size_t wire_bytes, int levels_max, Strings strings);

  /// What it takes from the heap itself. It takes more as it enters deeper levels than most have,
  /// which heap_bytes() then says.
  static size_t OwnBytes(int levels_max) noexcept {
    return LevelsAtFirst(levels_max) * sizeof(Level);
  }

  /// The next bytes. False when they are no wire, or too deep; then nothing that follows counts.
  bool Walk(const char* data, size_t size);

  /// Heap bytes for what was seen so far, beyond the wire's own: what protobuf's vectors and
  /// objects for unknown fields take, growth included, how much longer than its text a string's
  /// body is, and how often more than once the key of a map is there.
  size_t heap_bytes() const noexcept { return heap_bytes_ + keys_passing_max_; }
  bool too_deep() const noexcept { return too_deep_; }

 private:
  enum class Expect : uint8_t { kTag, kValue, kLength };
  // How much there is of an entry of a map, as protobuf takes it in: a key and a value and nothing
  // else, in this order, or otherwise.
  enum class Entry : uint8_t { kEmpty, kKey, kKeyAndValue, kOther };
  struct Level {
    const Shape* shape;  // null inside an unknown group
    uint64_t end;        // position behind it; of a group, behind what it stands in
    uint32_t group;      // its field number, or 0
    Entry entry = Entry::kEmpty;
    size_t key_bytes = 0;  // of the keys' bodies, in an entry of a map
  };

  static size_t LevelsAtFirst(int levels_max) noexcept {
    return std::min<size_t>(static_cast<size_t>(levels_max), 128);
  }

  bool OnVarint(uint64_t value);
  bool OnTag(uint32_t tag);
  bool OnLength(uint64_t bytes);
  bool Enter(const Shape* shape, uint64_t end, uint32_t group);
  void OnUnknown(size_t object_bytes) noexcept;
  void OnEnum(uint64_t value) noexcept;
  void OnEntryField(uint32_t number) noexcept;
  void OnKey(uint64_t bytes) noexcept;
  void Leave() noexcept;
  void LeaveEnded() noexcept;

  std::vector<Level> levels_;
  const int levels_max_;
  const Strings strings_;
  size_t heap_bytes_ = 0;
  // Keys of the entries that are being read, which protobuf holds once more until it has read them.
  size_t keys_passing_ = 0;
  size_t keys_passing_max_ = 0;
  bool too_deep_ = false;
  bool broken_ = false;

  uint64_t at_ = 0;
  uint64_t skip_ = 0;    // bytes of a value that nobody looks at
  uint64_t packed_ = 0;  // position behind packed values of a closed enum, or 0
  Expect expect_ = Expect::kTag;
  uint64_t varint_ = 0;
  int shift_ = 0;
  const FieldShape* field_ = nullptr;  // of the tag read last; null when it is unknown
};

}  // namespace harena::pb::wire
