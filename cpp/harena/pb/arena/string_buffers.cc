#include "harena/pb/arena/string_buffers.h"

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
#include "harena/pb/arena/shared_buffers.h"
#include "harena/pb/layout/raw_string.h"

namespace harena::pb {
namespace {

using namespace string_buffers;  // NOLINT(google-build-using-namespace)
using layout::RawString;

// A thread is over its bound when a batch more would be. Then some class has a batch to give.
constexpr size_t kThreadBytesMax = kThreadBuffersBytesMax - kBatchBytes;
static_assert(kThreadBytesMax > kClasses * kBatchBytes);

// For every 16 bytes, the smallest class that holds them.
constexpr auto kClassOf = [] {
  std::array<uint8_t, kBufferBytesMax / 16 + 1> classes{};
  for (size_t step = 0; step < classes.size(); ++step) {
    while (kBufferBytes[classes[step]] < step * 16) ++classes[step];
  }
  return classes;
}();

constexpr size_t ClassFor(size_t buffer_bytes) noexcept {
  return kClassOf[(buffer_bytes + 15) / 16];
}

char* NewBuffer(size_t size_class) {
  return std::allocator<char>().allocate(kBufferBytes[size_class]);
}

// Made as the program is loaded: a child that was forked while a thread made it would wait for
// ever.
[[maybe_unused]] const SharedBuffers& made_at_load = SharedBuffers::Get();

class ThreadBuffers {
 public:
  ThreadBuffers() = default;
  ~ThreadBuffers() {
    current_ = nullptr;
    ended_ = true;
    for (size_t i = 0; i < kClasses; ++i) {
      while (classes_[i].spares.count != 0) Unload(i);
      DeleteChain(i, classes_[i].first);
    }
  }
  ThreadBuffers(const ThreadBuffers&) = delete;
  ThreadBuffers& operator=(const ThreadBuffers&) = delete;

  // Null once the thread is ending.
  HARENA_INLINE static ThreadBuffers* Get() noexcept {
    return HARENA_LIKELY(current_ != nullptr) ? current_ : Begin();
  }

  // Null when there is none.
  HARENA_INLINE char* Pop(size_t size_class) noexcept {
    Class& of = classes_[size_class];
    if (HARENA_UNLIKELY(of.count == 0) && !Refill(size_class)) return nullptr;
    --of.count;
    char* const buffer = std::exchange(of.first, LinkOf(of.first, size_class).next);
    bytes_ -= kBufferBytes[size_class];
    Unpoison(buffer, kBufferBytes[size_class]);
    return buffer;
  }

  HARENA_INLINE void Push(size_t size_class, char* buffer) noexcept {
    Class& of = classes_[size_class];
    if (HARENA_UNLIKELY(of.count == BatchOf(size_class))) {
      of.spares.Push(size_class, std::exchange(of.first, nullptr));
      of.count = 0;
    }
    ::new (buffer + LinkAt(size_class)) Link{of.first, nullptr};
    of.first = buffer;
    ++of.count;
    bytes_ += kBufferBytes[size_class];
    // Nobody may read what a string had that has ended.
    const size_t begin = LinkAt(size_class) == 0 ? sizeof(Link) : 0;
    Poison(buffer + begin, kBufferBytes[size_class] - sizeof(Link));
    if (HARENA_UNLIKELY(bytes_ > kThreadBytesMax)) UnloadMost();
  }

  void Trim() noexcept {
    trims_seen_ = SharedBuffers::Get().trims();
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

  HARENA_NOINLINE static ThreadBuffers* Begin() noexcept {
    if (ended_) return nullptr;
    thread_local ThreadBuffers buffers;
    current_ = &buffers;
    return current_;
  }

  HARENA_NOINLINE bool Refill(size_t size_class) noexcept {
    if (trims_seen_ != SharedBuffers::Get().trims()) Trim();
    Class& of = classes_[size_class];
    if (of.spares.count != 0) {
      of.first = of.spares.Pop(size_class);
    } else {
      of.first = SharedBuffers::Get().Give(size_class);
      if (of.first == nullptr) return false;
      bytes_ += BatchBytes(size_class);
    }
    of.count = BatchOf(size_class);
    return true;
  }

  // REQUIRES: there is a spare batch.
  void Unload(size_t size_class) noexcept {
    bytes_ -= BatchBytes(size_class);
    SharedBuffers::Get().Take(size_class, classes_[size_class].spares.Pop(size_class));
  }
  HARENA_NOINLINE void UnloadMost() noexcept {
    size_t most = 0;
    for (size_t i = 1; i < kClasses; ++i) {
      if (classes_[i].spares.count > classes_[most].spares.count) most = i;
    }
    Unload(most);
  }

  // A pointer, because a thread_local with a destructor is asked at each use whether it is there.
  static thread_local constinit inline ThreadBuffers* current_ = nullptr;
  static thread_local constinit inline bool ended_ = false;

  std::array<Class, kClasses> classes_;
  size_t bytes_ = 0;
  uint64_t trims_seen_ = SharedBuffers::Get().trims();
};

}  // namespace

size_t StringBufferBytes(size_t size) noexcept {
  if (size <= RawString::kLocalMax) return 0;
  return size < kBufferBytesMax ? kBufferBytes[ClassFor(size + 1)] : size + 1;
}

std::string* MakeString(void* place, std::string_view text) {
  const size_t buffer_bytes = text.size() + 1;
  if (text.size() <= RawString::kLocalMax) {
    RawString::Write(place, text.data(), text.size());
    return static_cast<std::string*>(place);
  }
  if (HARENA_UNLIKELY(buffer_bytes > kBufferBytesMax)) return ::new (place) std::string(text);
  const size_t size_class = ClassFor(buffer_bytes);
  ThreadBuffers* const buffers = ThreadBuffers::Get();
  char* buffer = buffers == nullptr ? nullptr : buffers->Pop(size_class);
  if (HARENA_UNLIKELY(buffer == nullptr)) buffer = NewBuffer(size_class);
  RawString::WriteApart(place, buffer, text.data(), text.size());
  static_cast<RawString*>(place)->capacity = kBufferBytes[size_class] - 1u;
  return static_cast<std::string*>(place);
}

void EndLongString(std::string& string) noexcept {
  auto& raw = reinterpret_cast<RawString&>(string);
  // A buffer of another size goes back as it came: the heap may want to hear its exact size.
  const size_t buffer_bytes = raw.capacity + 1;
  if (HARENA_LIKELY(buffer_bytes <= kBufferBytesMax)) {
    const size_t size_class = ClassFor(buffer_bytes);
    ThreadBuffers* const buffers = ThreadBuffers::Get();
    if (HARENA_LIKELY(kBufferBytes[size_class] == buffer_bytes && buffers != nullptr)) {
      buffers->Push(size_class, raw.data);
      RawString::Write(&string, "", 0);
      return;
    }
  }
  std::string().swap(string);
}

void TrimStringBuffers() noexcept {
  SharedBuffers::Get().Trim();
  if (ThreadBuffers* buffers = ThreadBuffers::Get()) buffers->Trim();
}

void DecayStringBuffers() noexcept { SharedBuffers::Get().Decay(); }

StringBufferStats GetStringBufferStats() noexcept {
  const ThreadBuffers* buffers = ThreadBuffers::Get();
  return {.bytes_shared = SharedBuffers::Get().bytes(),
          .bytes_thread = buffers == nullptr ? 0 : buffers->bytes()};
}

}  // namespace harena::pb
