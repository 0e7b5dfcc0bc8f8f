// A preloadable counter of heap allocations:
//
//   HARENA_ALLOC_COUNT_FILE=/tmp/count LD_PRELOAD=libharena_alloc_count.so[:liballocator.so]
//   program
//
// Counts into the mapped file (alloc_count.h) and passes every call on to the next allocator in
// preload order, else to the C library. Without the variable it counts into private memory.
//
// operator new is taken over as well: allocators that bring their own would otherwise bypass the
// counter, and the C++ library's own would be counted twice. It forwards to the next malloc, whose
// blocks every supported allocator accepts in its operator delete.
#include "bench/tools/alloc_count.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

using harena::bench::AllocCountFile;
using harena::bench::AllocCountSlot;
using harena::bench::kAllocCountSlots;

struct Next {
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*memalign)(size_t, size_t);
  void (*free)(void*);
};

Next next;
AllocCountFile private_counts;
std::atomic<AllocCountFile*> counts{&private_counts};
std::atomic<int> threads{0};
__attribute__((tls_model("initial-exec"))) thread_local int thread_slot = -1;

// dlsym itself may allocate before `next` is known: it is served from here and never freed.
alignas(64) char early[64 * 1024];
std::atomic<size_t> early_used{0};
std::atomic<bool> resolving{false};

void* EarlyAllocate(size_t bytes) {
  const size_t rounded = (bytes + 15) & ~size_t{15};
  const size_t offset = early_used.fetch_add(rounded);
  if (offset + rounded > sizeof early) _exit(127);
  return early + offset;
}

bool IsEarly(const void* pointer) { return pointer >= early && pointer < early + sizeof early; }

void MapCounts() {
  const char* path = std::getenv(harena::bench::kAllocCountEnv);
  if (path == nullptr) return;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (ftruncate(file, sizeof(AllocCountFile)) == 0) {
    void* mapped =
        mmap(nullptr, sizeof(AllocCountFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) counts.store(static_cast<AllocCountFile*>(mapped));
  }
  close(file);
}

template <typename Function>
void Resolve(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// False while the first call is still looking up the functions.
bool Ready() {
  if (next.free != nullptr) [[likely]]
    return true;
  if (resolving.exchange(true)) return false;
  Resolve(next.malloc, "malloc");
  Resolve(next.calloc, "calloc");
  Resolve(next.realloc, "realloc");
  Resolve(next.memalign, "memalign");
  MapCounts();
  Resolve(next.free, "free");  // last: it says that all are there
  return true;
}

AllocCountSlot& Slot() {
  AllocCountFile& file = *counts.load(std::memory_order_relaxed);
  if (thread_slot < 0) {
    thread_slot = threads.fetch_add(1) % kAllocCountSlots;
    file.slots[thread_slot].thread.store(static_cast<uint64_t>(gettid()));
  }
  return file.slots[thread_slot];
}

void Count(size_t bytes) {
  AllocCountSlot& slot = Slot();
  slot.allocations.fetch_add(1, std::memory_order_relaxed);
  slot.bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void* Aligned(size_t alignment, size_t bytes) {
  if (!Ready()) _exit(127);
  Count(bytes);
  return next.memalign(alignment, bytes);
}

void* NewOrThrow(void* pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) {
  if (!Ready()) return EarlyAllocate(bytes);
  Count(bytes);
  return next.malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
  if (!Ready()) return EarlyAllocate(count * bytes);  // static storage is zero
  Count(count * bytes);
  return next.calloc(count, bytes);
}

void* realloc(void* pointer, size_t bytes) {
  if (!Ready()) _exit(127);
  Count(bytes);
  if (IsEarly(pointer)) {
    void* moved = next.malloc(bytes);
    const size_t rest = static_cast<size_t>(early + sizeof early - static_cast<char*>(pointer));
    if (moved != nullptr) std::memcpy(moved, pointer, bytes < rest ? bytes : rest);
    return moved;
  }
  return next.realloc(pointer, bytes);
}

void free(void* pointer) {
  if (pointer == nullptr || IsEarly(pointer) || !Ready()) return;
  Slot().frees.fetch_add(1, std::memory_order_relaxed);
  next.free(pointer);
}

void* memalign(size_t alignment, size_t bytes) { return Aligned(alignment, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return Aligned(alignment, bytes); }

int posix_memalign(void** result, size_t alignment, size_t bytes) {
  void* pointer = Aligned(alignment, bytes);
  if (pointer == nullptr) return ENOMEM;
  *result = pointer;
  return 0;
}

}  // extern "C"

void* operator new(size_t bytes) { return NewOrThrow(malloc(bytes)); }
void* operator new[](size_t bytes) { return NewOrThrow(malloc(bytes)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return malloc(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return malloc(bytes); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return NewOrThrow(Aligned(static_cast<size_t>(alignment), bytes));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return NewOrThrow(Aligned(static_cast<size_t>(alignment), bytes));
}
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Aligned(static_cast<size_t>(alignment), bytes);
}
void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Aligned(static_cast<size_t>(alignment), bytes);
}
void operator delete(void* pointer) noexcept { free(pointer); }
void operator delete[](void* pointer) noexcept { free(pointer); }
void operator delete(void* pointer, size_t) noexcept { free(pointer); }
void operator delete[](void* pointer, size_t) noexcept { free(pointer); }
void operator delete(void* pointer, const std::nothrow_t&) noexcept { free(pointer); }
void operator delete[](void* pointer, const std::nothrow_t&) noexcept { free(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { free(pointer); }
void operator delete[](void* pointer, std::align_val_t) noexcept { free(pointer); }
void operator delete(void* pointer, size_t, std::align_val_t) noexcept { free(pointer); }
void operator delete[](void* pointer, size_t, std::align_val_t) noexcept { free(pointer); }
void operator delete(void* pointer, std::align_val_t, const std::nothrow_t&) noexcept {
  free(pointer);
}
void operator delete[](void* pointer, std::align_val_t, const std::nothrow_t&) noexcept {
  free(pointer);
}
