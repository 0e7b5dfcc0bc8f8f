#pragma once

#include <cstddef>

namespace harena::pb::codec {

/// Counts what the calling thread takes from the heap by operator new, which is how protobuf and
/// std::string take all of theirs, while it stands. Programs that link test_heap_count.cc only.
class HeapCount {
 public:
  HeapCount() noexcept;
  size_t taken() const noexcept;  ///< Since construction.

 private:
  size_t start_;
};

/// Of the calling thread: taken less given back. Where other threads give back, below zero.
ptrdiff_t HeapBalance() noexcept;
/// The same in bytes, as they were asked for.
ptrdiff_t HeapBytes() noexcept;

}  // namespace harena::pb::codec
