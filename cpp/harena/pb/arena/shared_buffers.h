// What threads keep of strings' buffers in common, and how free buffers are listed.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "harena/base/compiler.h"
#include "harena/base/fork_mutex.h"
#include "harena/base/poison.h"
#include "harena/pb/arena/string_buffers.h"

namespace harena::pb::string_buffers {

// Bytes of a buffer, its final zero included. Steps of at most a half, so that little is wasted.
inline constexpr std::array<uint16_t, 14> kBufferBytes = {32,  48,  64,  96,   128,  192,  256,
                                                          384, 512, 768, 1024, 1536, 2048, 4096};
inline constexpr size_t kClasses = kBufferBytes.size();
// Buffers move between a thread and the shared list by whole batches of about so many bytes.
inline constexpr size_t kBatchBytes = size_t{16} << 10;
constexpr size_t BatchOf(size_t size_class) noexcept {
  return kBatchBytes / kBufferBytes[size_class];
}
constexpr size_t BatchBytes(size_t size_class) noexcept {
  return BatchOf(size_class) * kBufferBytes[size_class];
}

// What a free buffer holds. Nothing else is needed to list it.
struct Link {
  char* next;
  char* next_batch;  // of a batch's first buffer
};

// At the end under ASan: who reads an ended string reads its beginning first. The link itself is
// not poisoned, or the leak checker would not follow it.
constexpr size_t LinkAt(size_t size_class) noexcept {
  return HARENA_ASAN ? kBufferBytes[size_class] - sizeof(Link) : 0;
}
HARENA_INLINE Link& LinkOf(char* buffer, size_t size_class) noexcept {
  return *std::launder(reinterpret_cast<Link*>(buffer + LinkAt(size_class)));
}

inline void DeleteChain(size_t size_class, char* first) noexcept {
  while (first != nullptr) {
    char* const buffer = std::exchange(first, LinkOf(first, size_class).next);
    Unpoison(buffer, kBufferBytes[size_class]);
    std::allocator<char>().deallocate(buffer, kBufferBytes[size_class]);
  }
}

// Batches of one class, chained.
struct Batches {
  char* first = nullptr;
  size_t count = 0;

  HARENA_INLINE void Push(size_t size_class, char* batch) noexcept {
    LinkOf(batch, size_class).next_batch = first;
    first = batch;
    ++count;
  }
  // REQUIRES: there is one.
  HARENA_INLINE char* Pop(size_t size_class) noexcept {
    --count;
    return std::exchange(first, LinkOf(first, size_class).next_batch);
  }
  void Delete(size_t size_class) noexcept {
    while (count != 0) DeleteChain(size_class, Pop(size_class));
  }
};

// Thread rule: any thread.
class SharedBuffers {
 public:
  // Never destroyed: threads may end after main() did.
  static SharedBuffers& Get() noexcept {
    static NeverDestroyed<SharedBuffers> shared;
    return *shared;
  }

  // What would be over the bound goes back to the heap.
  void Take(size_t size_class, char* batch) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (bytes_ + BatchBytes(size_class) <= kSharedBuffersBytesMax) {
        classes_[size_class].batches.Push(size_class, batch);
        bytes_ += BatchBytes(size_class);
        return;
      }
    }
    DeleteChain(size_class, batch);
  }

  // Null when there is none.
  char* Give(size_t size_class) noexcept {
    const std::lock_guard lock(mutex_);
    Class& of = classes_[size_class];
    if (of.batches.count == 0) return nullptr;
    bytes_ -= BatchBytes(size_class);
    char* const batch = of.batches.Pop(size_class);
    of.fewest = std::min(of.fewest, of.batches.count);
    return batch;
  }

  void Decay() noexcept {
    for (size_t i = 0; i < kClasses; ++i) TakeOut(i, classes_[i].fewest).Delete(i);
  }
  void Trim() noexcept {
    trims_.fetch_add(1, std::memory_order_relaxed);
    for (size_t i = 0; i < kClasses; ++i) TakeOut(i, SIZE_MAX).Delete(i);
  }
  // Grows with every Trim(), so that threads see that there was one.
  uint64_t trims() const noexcept { return trims_.load(std::memory_order_relaxed); }

  size_t bytes() noexcept {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  struct Class {
    Batches batches;
    size_t fewest = 0;  // of the batches that were here since the last Decay()
  };

  // At most `count`, which is read under the lock.
  Batches TakeOut(size_t size_class, const size_t& count) noexcept {
    const std::lock_guard lock(mutex_);
    Class& of = classes_[size_class];
    Batches out;
    const size_t kept = of.batches.count - std::min(count, of.batches.count);
    while (of.batches.count > kept) {
      out.Push(size_class, of.batches.Pop(size_class));
      bytes_ -= BatchBytes(size_class);
    }
    of.fewest = kept;
    return out;
  }

  std::atomic<uint64_t> trims_{0};
  ForkMutex mutex_;
  std::array<Class, kClasses> classes_;
  size_t bytes_ = 0;
};

}  // namespace harena::pb::string_buffers
