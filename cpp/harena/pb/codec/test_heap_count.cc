#include "harena/pb/codec/test_heap_count.h"

#include <cstdlib>
#include <new>

namespace {

// Before what is handed out: its size.
constexpr size_t kHeadBytes = 16;

thread_local constinit size_t taken = 0;
thread_local constinit size_t given_back = 0;
thread_local constinit ptrdiff_t bytes_held = 0;

void* Take(size_t bytes) noexcept {
  ++taken;
  void* const head = std::malloc(kHeadBytes + bytes);
  if (head == nullptr) return nullptr;
  *static_cast<size_t*>(head) = bytes;
  bytes_held += static_cast<ptrdiff_t>(bytes);
  return static_cast<char*>(head) + kHeadBytes;
}
void* TakeOrThrow(size_t bytes) {
  if (void* data = Take(bytes)) return data;
  throw std::bad_alloc();
}
void GiveBack(void* data) noexcept {
  if (data == nullptr) return;
  ++given_back;
  void* const head = static_cast<char*>(data) - kHeadBytes;
  bytes_held -= static_cast<ptrdiff_t>(*static_cast<size_t*>(head));
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

HeapCount::HeapCount() noexcept : start_(::taken) {}
size_t HeapCount::taken() const noexcept { return ::taken - start_; }
ptrdiff_t HeapBalance() noexcept { return static_cast<ptrdiff_t>(::taken - ::given_back); }
ptrdiff_t HeapBytes() noexcept { return ::bytes_held; }

}  // namespace harena::pb::codec
