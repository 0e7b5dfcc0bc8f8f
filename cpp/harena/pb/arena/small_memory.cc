#include "harena/pb/arena/small_memory.h"

#include <algorithm>
#include <new>

namespace harena::pb {
namespace {

// Before each piece of memory, for when the arena ends it.
struct Head {
  SmallMemory* owner;
  size_t bytes;
};

}  // namespace

HARENA_NOINLINE void SmallMemory::Refill() {
  constexpr size_t kFirstBytes = 1024;
  constexpr size_t kMostBytes = 4096;
  static_assert(TakenFor(kBytesMax) <= kFirstBytes);
  const size_t bytes = std::clamp(bytes_ * 2, kFirstBytes, kMostBytes);
  char* const memory = google::protobuf::Arena::CreateArray<char>(&arena_, sizeof(Head) + bytes);
  auto* const head = ::new (memory) Head{this, bytes};
  arena_.OwnCustomDestructor(head, [](void* object) {
    auto* ended = static_cast<Head*>(object);
    // The arena may hand this memory out again.
    Unpoison(ended + 1, ended->bytes);
    ended->owner->next_ = nullptr;
    ended->owner->limit_ = nullptr;
    ended->owner->bytes_ = 0;
  });
  bytes_ = bytes;
  next_ = memory + sizeof(Head);
  limit_ = next_ + bytes;
  Poison(next_, bytes);
}

}  // namespace harena::pb
