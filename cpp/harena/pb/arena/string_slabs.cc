#include "harena/pb/arena/string_slabs.h"

#include <string.h>

#include <algorithm>
#include <new>

namespace harena::pb {
namespace {

constexpr uint32_t kSlabStringsMin = 8;
constexpr uint32_t kSlabStringsMax = 128;

}  // namespace

void StringSlabs::Slab::End(void* object) noexcept {
  auto* slab = static_cast<Slab*>(object);
  for (uint32_t i = 0; i < slab->used; ++i) {
    std::string& string = slab->strings()[i];
    if (HARENA_UNLIKELY(slab->store->wipe_)) explicit_bzero(string.data(), string.capacity());
    EndString(string);
  }
  slab->store->newest_ = nullptr;
}

StringSlabs::StringSlabs(google::protobuf::Arena& arena, bool wipe) noexcept
    : arena_(arena), thread_(&thread_mark_), wipe_(wipe) {}

HARENA_NOINLINE void StringSlabs::AddSlab() {
  const uint32_t capacity =
      newest_ == nullptr ? kSlabStringsMin : std::min(newest_->capacity * 2, kSlabStringsMax);
  char* place = google::protobuf::Arena::CreateArray<char>(&arena_, Slab::BytesFor(capacity));
  auto* slab = ::new (place) Slab{this, 0, capacity};
  arena_.OwnCustomDestructor(slab, &Slab::End);
  newest_ = slab;
}

void StringSlabs::Copy(const std::string* const* from, size_t count, void** to) {
  while (count != 0) {
    if (newest_ == nullptr || newest_->used == newest_->capacity) AddSlab();
    const size_t now = std::min<size_t>(count, newest_->capacity - newest_->used);
    for (size_t i = 0; i < now; ++i) {
      to[i] = CopyString(newest_->strings() + newest_->used, *from[i]);
      ++newest_->used;
    }
    from += now;
    to += now;
    count -= now;
  }
}

}  // namespace harena::pb
