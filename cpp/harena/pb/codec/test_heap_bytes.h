#pragma once

#include <cstddef>
#include <functional>

namespace harena::pb::codec {

/// Bytes that the calling thread has asked of operator new and not given back, which is how
/// protobuf and std::string take all of theirs. Programs that link test_heap_bytes.cc only. Where
/// other threads give back, below zero.
ptrdiff_t HeapBytes() noexcept;

/// How much more the calling thread had from operator new than at the watch's beginning, alone and
/// together with other memory. Only one may stand on a thread.
class HeapWatch {
 public:
  /// `beside` says how much of the other memory there is. It is called from within operator new and
  /// delete, takes nothing itself, and may not be locked out by who calls those.
  explicit HeapWatch(std::function<size_t()> beside);
  ~HeapWatch();
  HeapWatch(const HeapWatch&) = delete;
  HeapWatch& operator=(const HeapWatch&) = delete;

  /// The most that came from operator new.
  size_t heap_bytes_max() const noexcept { return heap_bytes_max_; }
  /// The most that there was of both at one moment. Exact where the other memory only grows: what
  /// was there is summed before each release from the heap, after each allocation, and here.
  size_t bytes_max() noexcept;

 private:
  friend struct HeapEvents;
  void Look() noexcept;

  const std::function<size_t()> beside_;
  const ptrdiff_t start_bytes_;
  size_t heap_bytes_max_ = 0;
  size_t bytes_max_ = 0;
};

}  // namespace harena::pb::codec
