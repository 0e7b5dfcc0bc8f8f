#include "harena/pb/codec/test_heap_count.h"

#include <cstdlib>
#include <new>

namespace {

thread_local constinit size_t taken = 0;
thread_local constinit size_t given_back = 0;

void* Take(size_t bytes) noexcept {
  ++taken;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* TakeOrThrow(size_t bytes) {
  if (void* data = Take(bytes)) return data;
  throw std::bad_alloc();
}
void GiveBack(void* data) noexcept {
  if (data != nullptr) ++given_back;
  std::free(data);
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

}  // namespace harena::pb::codec
