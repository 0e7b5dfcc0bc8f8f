#include "harena/pb/codec/test_heap_bytes.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

thread_local constinit ptrdiff_t live_bytes = 0;
thread_local constinit ptrdiff_t peak_bytes = 0;

// Stands before each piece, for who gives it back.
struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) Head {
  size_t bytes;
};

void* Take(size_t bytes) noexcept {
  void* const place = std::malloc(sizeof(Head) + bytes);
  if (place == nullptr) return nullptr;
  live_bytes += static_cast<ptrdiff_t>(bytes);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return ::new (place) Head{bytes} + 1;
}
void* TakeOrThrow(size_t bytes) {
  if (void* data = Take(bytes)) return data;
  throw std::bad_alloc();
}
void GiveBack(void* data) noexcept {
  if (data == nullptr) return;
  Head* const head = static_cast<Head*>(data) - 1;
  live_bytes -= static_cast<ptrdiff_t>(head->bytes);
  std::free(head);
}

}  // namespace

void* operator new(size_t bytes) { return TakeOrThrow(bytes); }
void* operator new[](size_t bytes) { return TakeOrThrow(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return Take(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return Take(bytes); }
void operator delete(void* data) noexcept { GiveBack(data); }
void operator delete[](void* data) noexcept { GiveBack(data); }
void operator delete(void* data, size_t) noexcept { GiveBack(data); }
void operator delete[](void* data, size_t) noexcept { GiveBack(data); }
void operator delete(void* data, const std::nothrow_t&) noexcept { GiveBack(data); }
void operator delete[](void* data, const std::nothrow_t&) noexcept { GiveBack(data); }

namespace harena::pb::codec {

ptrdiff_t HeapBytes() noexcept { return live_bytes; }
ptrdiff_t HeapBytesPeak() noexcept { return peak_bytes; }
void ForgetHeapPeak() noexcept { peak_bytes = live_bytes; }

}  // namespace harena::pb::codec
