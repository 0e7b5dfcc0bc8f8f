#include "harena/pb/codec/string_bodies.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "harena/base/compiler.h"
#include "harena/base/poison.h"
#include "harena/pb/layout/string_image.h"

namespace harena::pb::codec {
namespace {

using layout::StringImage;

// Bytes of a body, its final zero included. Steps of at most a half, so that little is wasted.
constexpr std::array<uint16_t, 14> kBodyBytes = {32,  48,  64,  96,   128,  192,  256,
                                                 384, 512, 768, 1024, 1536, 2048, 4096};
constexpr size_t kClasses = kBodyBytes.size();
// How many bodies move between a thread and the shared list at once.
constexpr size_t kBatch = 128;

// For every 16 bytes, the smallest class that holds them.
constexpr auto kClassOf = [] {
  std::array<uint8_t, kBodyBytesMax / 16 + 1> classes{};
  for (size_t step = 0; step < classes.size(); ++step) {
    while (kBodyBytes[classes[step]] < step * 16) ++classes[step];
  }
  return classes;
}();

constexpr size_t ClassFor(size_t body_bytes) noexcept { return kClassOf[(body_bytes + 15) / 16]; }

using Bodies = std::vector<char*>;

char* NewBody(size_t size_class) { return std::allocator<char>().allocate(kBodyBytes[size_class]); }

void DeleteBodies(size_t size_class, Bodies& bodies, size_t kept) noexcept {
  for (size_t i = kept; i < bodies.size(); ++i) {
    Unpoison(bodies[i], kBodyBytes[size_class]);
    std::allocator<char>().deallocate(bodies[i], kBodyBytes[size_class]);
  }
  bodies.resize(std::min(kept, bodies.size()));
}

class SharedBodies {
 public:
  // Never destroyed: threads may end after main() did.
  static SharedBodies& Get() noexcept {
    static auto* shared = new SharedBodies;
    return *shared;
  }

  // Takes the upper `count` of `from`; what is over the bound goes back to the heap.
  void Take(size_t size_class, Bodies& from, size_t count) noexcept {
    const size_t rest = from.size() - count;
    size_t taken = 0;
    {
      const std::lock_guard lock(mutex_);
      const size_t room = (kSharedBodiesBytesMax - std::min(bytes_, kSharedBodiesBytesMax)) /
                          kBodyBytes[size_class];
      try {
        taken = std::min(room, count);
        bodies_[size_class].insert(bodies_[size_class].end(),
                                   from.end() - static_cast<ptrdiff_t>(taken), from.end());
        bytes_ += taken * kBodyBytes[size_class];
      } catch (const std::bad_alloc&) {
        taken = 0;
      }
    }
    from.resize(from.size() - taken);
    DeleteBodies(size_class, from, rest);
  }

  void Give(size_t size_class, Bodies& to, size_t count) {
    const std::lock_guard lock(mutex_);
    Bodies& bodies = bodies_[size_class];
    const size_t given = std::min(count, bodies.size());
    to.insert(to.end(), bodies.end() - static_cast<ptrdiff_t>(given), bodies.end());
    bodies.resize(bodies.size() - given);
    bytes_ -= given * kBodyBytes[size_class];
  }

  void Trim() noexcept {
    trims_.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < kClasses; ++i) DeleteBodies(i, bodies_[i], 0);
    bytes_ = 0;
  }
  // Grows with every Trim(), so that threads see that there was one.
  uint64_t trims() const noexcept { return trims_.load(std::memory_order_relaxed); }

  size_t bytes() noexcept {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  std::atomic<uint64_t> trims_{0};
  std::mutex mutex_;
  std::array<Bodies, kClasses> bodies_;
  size_t bytes_ = 0;
};

class ThreadBodies {
 public:
  ThreadBodies() = default;
  ~ThreadBodies() {
    current_ = nullptr;
    ended_ = true;
    for (size_t i = 0; i < kClasses; ++i) {
      SharedBodies::Get().Take(i, bodies_[i], bodies_[i].size());
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
    Bodies& bodies = bodies_[size_class];
    if (HARENA_UNLIKELY(bodies.empty()) && !Refill(size_class)) return nullptr;
    char* const body = bodies.back();
    bodies.pop_back();
    bytes_ -= kBodyBytes[size_class];
    Unpoison(body, kBodyBytes[size_class]);
    return body;
  }

  // False when it is not kept.
  HARENA_INLINE bool Push(size_t size_class, char* body) noexcept {
    Bodies& bodies = bodies_[size_class];
    if (HARENA_UNLIKELY(bodies.size() == bodies.capacity()) && !MakeRoom(bodies)) return false;
    bodies.push_back(body);
    bytes_ += kBodyBytes[size_class];
    // Nobody may read what a string had that has ended.
    Poison(body, kBodyBytes[size_class]);
    if (HARENA_UNLIKELY(bytes_ > kThreadBodiesBytesMax)) Unload();
    return true;
  }

  void Trim() noexcept {
    trims_seen_ = SharedBodies::Get().trims();
    for (size_t i = 0; i < kClasses; ++i) DeleteBodies(i, bodies_[i], 0);
    bytes_ = 0;
  }
  bool trim_missed() const noexcept { return trims_seen_ != SharedBodies::Get().trims(); }
  size_t bytes() const noexcept { return bytes_; }

 private:
  HARENA_NOINLINE static ThreadBodies* Begin() noexcept {
    if (ended_) return nullptr;
    thread_local ThreadBodies bodies;
    current_ = &bodies;
    return current_;
  }

  HARENA_NOINLINE bool Refill(size_t size_class) noexcept {
    if (trim_missed()) Trim();
    try {
      SharedBodies::Get().Give(size_class, bodies_[size_class], kBatch);
    } catch (const std::bad_alloc&) {
      return false;
    }
    bytes_ += bodies_[size_class].size() * kBodyBytes[size_class];
    return !bodies_[size_class].empty();
  }

  HARENA_NOINLINE static bool MakeRoom(Bodies& bodies) noexcept {
    try {
      bodies.reserve(std::max<size_t>(kBatch, 2 * bodies.capacity()));
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  // Half of the class that holds most.
  HARENA_NOINLINE void Unload() noexcept {
    size_t fullest = 0;
    for (size_t i = 1; i < kClasses; ++i) {
      if (bodies_[i].size() * kBodyBytes[i] > bodies_[fullest].size() * kBodyBytes[fullest]) {
        fullest = i;
      }
    }
    const size_t count = (bodies_[fullest].size() + 1) / 2;
    bytes_ -= count * kBodyBytes[fullest];
    SharedBodies::Get().Take(fullest, bodies_[fullest], count);
  }

  // A pointer, because a thread_local with a destructor is asked at each use whether it is there.
  static thread_local constinit inline ThreadBodies* current_ = nullptr;
  static thread_local constinit inline bool ended_ = false;

  std::array<Bodies, kClasses> bodies_;
  size_t bytes_ = 0;
  uint64_t trims_seen_ = SharedBodies::Get().trims();
};

}  // namespace

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
    if (HARENA_LIKELY(kBodyBytes[size_class] == body_bytes && bodies != nullptr) &&
        bodies->Push(size_class, image.data)) {
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

StringBodyStats GetStringBodyStats() noexcept {
  const ThreadBodies* bodies = ThreadBodies::Get();
  return {.bytes_shared = SharedBodies::Get().bytes(),
          .bytes_thread = bodies == nullptr ? 0 : bodies->bytes()};
}

}  // namespace harena::pb::codec
