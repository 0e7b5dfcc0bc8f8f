#include "harena/pb/codec/test_heap_bytes.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace harena::pb::codec {
namespace {

thread_local constinit ptrdiff_t live_bytes = 0;
thread_local constinit HeapWatch* watch = nullptr;

}  // namespace

struct HeapEvents {
  static void Taken(size_t bytes) noexcept {
    live_bytes += static_cast<ptrdiff_t>(bytes);
    if (watch != nullptr) watch->Look();
  }
  static void GivenBack(size_t bytes) noexcept {
    if (watch != nullptr) watch->Look();
    live_bytes -= static_cast<ptrdiff_t>(bytes);
  }
};

ptrdiff_t HeapBytes() noexcept { return live_bytes; }

HeapWatch::HeapWatch(std::function<size_t()> beside)
    : beside_(std::move(beside)), start_bytes_(live_bytes) {
  watch = this;
}

HeapWatch::~HeapWatch() { watch = nullptr; }

size_t HeapWatch::bytes_max() noexcept {
  Look();
  return bytes_max_;
}

void HeapWatch::Look() noexcept {
  const auto heap_bytes = static_cast<size_t>(std::max<ptrdiff_t>(live_bytes - start_bytes_, 0));
  heap_bytes_max_ = std::max(heap_bytes_max_, heap_bytes);
  bytes_max_ = std::max(bytes_max_, heap_bytes + beside_());
}

}  // namespace harena::pb::codec

namespace {

using harena::pb::codec::HeapEvents;

// Stands before each piece, for who gives it back.
struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) Head {
  size_t bytes;
};

void* Take(size_t bytes) noexcept {
  void* const place = std::malloc(sizeof(Head) + bytes);
  if (place == nullptr) return nullptr;
  HeapEvents::Taken(bytes);
  return ::new (place) Head{bytes} + 1;
}
void* TakeOrThrow(size_t bytes) {
  if (void* data = Take(bytes)) return data;
  throw std::bad_alloc();
}
void GiveBack(void* data) noexcept {
  if (data == nullptr) return;
  Head* const head = static_cast<Head*>(data) - 1;
  HeapEvents::GivenBack(head->bytes);
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
