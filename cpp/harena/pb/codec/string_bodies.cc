#include "harena/pb/codec/string_bodies.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "harena/base/compiler.h"
#include "harena/base/fork_mutex.h"
#include "harena/base/poison.h"
#include "harena/pb/layout/string_image.h"

namespace harena::pb::codec {
namespace {

using layout::StringImage;

// Bytes of a body, its final zero included. Steps of at most a half, so that little is wasted.
constexpr std::array<uint16_t, 14> kBodyBytes = {32,  48,  64,  96,   128,  192,  256,
                                                 384, 512, 768, 1024, 1536, 2048, 4096};
constexpr size_t kClasses = kBodyBytes.size();
// Bodies move between a thread and the shared list by whole batches of about so many bytes.
constexpr size_t kBatchBytes = size_t{16} << 10;
// A thread is over its bound when a batch more would be. Then some class has a batch to give.
constexpr size_t kThreadBytesMax = kThreadBodiesBytesMax - kBatchBytes;
static_assert(kThreadBytesMax > kClasses * kBatchBytes);

constexpr size_t BatchOf(size_t size_class) noexcept {
  return kBatchBytes / kBodyBytes[size_class];
}
constexpr size_t BatchBytes(size_t size_class) noexcept {
  return BatchOf(size_class) * kBodyBytes[size_class];
}

// For every 16 bytes, the smallest class that holds them.
constexpr auto kClassOf = [] {
  std::array<uint8_t, kBodyBytesMax / 16 + 1> classes{};
  for (size_t step = 0; step < classes.size(); ++step) {
    while (kBodyBytes[classes[step]] < step * 16) ++classes[step];
  }
  return classes;
}();

constexpr size_t ClassFor(size_t body_bytes) noexcept { return kClassOf[(body_bytes + 15) / 16]; }

// What a free body holds. Nothing else is needed to list it.
struct Link {
  char* next;
  char* next_batch;  // of a batch's first body
};

// At the end under ASan: who reads an ended string reads its beginning first. The link itself is
// not poisoned, or the leak checker would not follow it.
constexpr size_t LinkAt(size_t size_class) noexcept {
  return HARENA_ASAN ? kBodyBytes[size_class] - sizeof(Link) : 0;
}
HARENA_INLINE Link& LinkOf(char* body, size_t size_class) noexcept {
  return *std::launder(reinterpret_cast<Link*>(body + LinkAt(size_class)));
}

char* NewBody(size_t size_class) { return std::allocator<char>().allocate(kBodyBytes[size_class]); }

void DeleteChain(size_t size_class, char* first) noexcept {
  while (first != nullptr) {
    char* const body = std::exchange(first, LinkOf(first, size_class).next);
    Unpoison(body, kBodyBytes[size_class]);
    std::allocator<char>().deallocate(body, kBodyBytes[size_class]);
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

class SharedBodies {
 public:
  // Never destroyed: threads may end after main() did.
  static SharedBodies& Get() noexcept {
    static NeverDestroyed<SharedBodies> shared;
    return *shared;
  }

  // What would be over the bound goes back to the heap.
  void Take(size_t size_class, char* batch) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (bytes_ + BatchBytes(size_class) <= kSharedBodiesBytesMax) {
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

class ThreadBodies {
 public:
  ThreadBodies() = default;
  ~ThreadBodies() {
    current_ = nullptr;
    ended_ = true;
    for (size_t i = 0; i < kClasses; ++i) {
      while (classes_[i].spares.count != 0) Unload(i);
      DeleteChain(i, classes_[i].first);
    }
  }
  ThreadBodies(const ThreadBodies&) = delete;
  ThreadBodies& operator=(const ThreadBodies&) = delete;

  // Null once the thread is ending.
  HARENA_INLINE static ThreadBodies* Get() noexcept {
    return HARENA_LIKELY(current_ != nullptr) ? current_ : Begin();
  }

  // Null when there is none.
  HARENA_INLINE char* Pop(size_t size_class) noexcept {
    Class& of = classes_[size_class];
    if (HARENA_UNLIKELY(of.count == 0) && !Refill(size_class)) return nullptr;
    --of.count;
    char* const body = std::exchange(of.first, LinkOf(of.first, size_class).next);
    bytes_ -= kBodyBytes[size_class];
    Unpoison(body, kBodyBytes[size_class]);
    return body;
  }

  HARENA_INLINE void Push(size_t size_class, char* body) noexcept {
    Class& of = classes_[size_class];
    if (HARENA_UNLIKELY(of.count == BatchOf(size_class))) {
      of.spares.Push(size_class, std::exchange(of.first, nullptr));
      of.count = 0;
    }
    ::new (body + LinkAt(size_class)) Link{of.first, nullptr};
    of.first = body;
    ++of.count;
    bytes_ += kBodyBytes[size_class];
    // Nobody may read what a string had that has ended.
    const size_t begin = LinkAt(size_class) == 0 ? sizeof(Link) : 0;
    Poison(body + begin, kBodyBytes[size_class] - sizeof(Link));
    if (HARENA_UNLIKELY(bytes_ > kThreadBytesMax)) UnloadMost();
  }

  void Trim() noexcept {
    trims_seen_ = SharedBodies::Get().trims();
    for (size_t i = 0; i < kClasses; ++i) {
      classes_[i].spares.Delete(i);
      DeleteChain(i, classes_[i].first);
      classes_[i] = {};
    }
    bytes_ = 0;
  }
  size_t bytes() const noexcept { return bytes_; }

 private:
  // A batch that is being filled or emptied, and whole ones.
  struct Class {
    char* first = nullptr;
    size_t count = 0;
    Batches spares;
  };

  HARENA_NOINLINE static ThreadBodies* Begin() noexcept {
    if (ended_) return nullptr;
    thread_local ThreadBodies bodies;
    current_ = &bodies;
    return current_;
  }

  HARENA_NOINLINE bool Refill(size_t size_class) noexcept {
    if (trims_seen_ != SharedBodies::Get().trims()) Trim();
    Class& of = classes_[size_class];
    if (of.spares.count != 0) {
      of.first = of.spares.Pop(size_class);
    } else {
      of.first = SharedBodies::Get().Give(size_class);
      if (of.first == nullptr) return false;
      bytes_ += BatchBytes(size_class);
    }
    of.count = BatchOf(size_class);
    return true;
  }

  // REQUIRES: there is a spare batch.
  void Unload(size_t size_class) noexcept {
    bytes_ -= BatchBytes(size_class);
    SharedBodies::Get().Take(size_class, classes_[size_class].spares.Pop(size_class));
  }
  HARENA_NOINLINE void UnloadMost() noexcept {
    size_t most = 0;
    for (size_t i = 1; i < kClasses; ++i) {
      if (classes_[i].spares.count > classes_[most].spares.count) most = i;
    }
    Unload(most);
  }

  // A pointer, because a thread_local with a destructor is asked at each use whether it is there.
  static thread_local constinit inline ThreadBodies* current_ = nullptr;
  static thread_local constinit inline bool ended_ = false;

  std::array<Class, kClasses> classes_;
  size_t bytes_ = 0;
  uint64_t trims_seen_ = SharedBodies::Get().trims();
};

}  // namespace

size_t StringBodyBytes(size_t size) noexcept {
  if (size <= StringImage::kLocalMax) return 0;
  return size < kBodyBytesMax ? kBodyBytes[ClassFor(size + 1)] : size + 1;
}

std::string* MakeString(void* place, std::string_view text) {
  const size_t body_bytes = text.size() + 1;
  if (text.size() <= StringImage::kLocalMax) {
    StringImage::Write(place, text.data(), text.size());
    return static_cast<std::string*>(place);
  }
  if (HARENA_UNLIKELY(body_bytes > kBodyBytesMax)) return ::new (place) std::string(text);
  const size_t size_class = ClassFor(body_bytes);
  ThreadBodies* const bodies = ThreadBodies::Get();
  char* body = bodies == nullptr ? nullptr : bodies->Pop(size_class);
  if (HARENA_UNLIKELY(body == nullptr)) body = NewBody(size_class);
  StringImage::WriteApart(place, body, text.data(), text.size());
  static_cast<StringImage*>(place)->capacity = kBodyBytes[size_class] - 1u;
  return static_cast<std::string*>(place);
}

void EndLongString(std::string& string) noexcept {
  auto& image = reinterpret_cast<StringImage&>(string);
  // A body of another size goes back as it came: the heap may want to hear its exact size.
  const size_t body_bytes = image.capacity + 1;
  if (HARENA_LIKELY(body_bytes <= kBodyBytesMax)) {
    const size_t size_class = ClassFor(body_bytes);
    ThreadBodies* const bodies = ThreadBodies::Get();
    if (HARENA_LIKELY(kBodyBytes[size_class] == body_bytes && bodies != nullptr)) {
      bodies->Push(size_class, image.data);
      StringImage::Write(&string, "", 0);
      return;
    }
  }
  std::string().swap(string);
}

void TrimStringBodies() noexcept {
  SharedBodies::Get().Trim();
  if (ThreadBodies* bodies = ThreadBodies::Get()) bodies->Trim();
}

void DecayStringBodies() noexcept { SharedBodies::Get().Decay(); }

StringBodyStats GetStringBodyStats() noexcept {
  const ThreadBodies* bodies = ThreadBodies::Get();
  return {.bytes_shared = SharedBodies::Get().bytes(),
          .bytes_thread = bodies == nullptr ? 0 : bodies->bytes()};
}

}  // namespace harena::pb::codec
