#include "harena/pb/codec/string_store.h"

#include <algorithm>
#include <new>
#include <utility>

#include "harena/base/compiler.h"
#include "harena/pb/codec/string_bodies.h"

namespace harena::pb::codec {
namespace {

// Its address tells one live thread from another.
thread_local constinit char thread_mark = 0;

constexpr uint32_t kSlabStringsMin = 8;
constexpr uint32_t kSlabStringsMax = 128;

}  // namespace

struct StringStore::Slab {
  StringStore* store;
  uint32_t used;
  uint32_t capacity;

  std::string* strings() noexcept { return reinterpret_cast<std::string*>(this + 1); }
  static size_t BytesFor(uint32_t capacity) noexcept {
    return sizeof(Slab) + capacity * sizeof(std::string);
  }
  // The arena's cleanup.
  static void End(void* object) noexcept {
    auto* slab = static_cast<Slab*>(object);
    for (uint32_t i = 0; i < slab->used; ++i) EndString(slab->strings()[i]);
    slab->store->newest_ = nullptr;
  }
};

StringStore::StringStore(google::protobuf::Arena& arena) noexcept
    : arena_(arena), thread_(&thread_mark) {}

HARENA_NOINLINE void StringStore::AddSlab() {
  const uint32_t capacity =
      newest_ == nullptr ? kSlabStringsMin : std::min(newest_->capacity * 2, kSlabStringsMax);
  char* place = google::protobuf::Arena::CreateArray<char>(&arena_, Slab::BytesFor(capacity));
  auto* slab = ::new (place) Slab{this, 0, capacity};
  arena_.OwnCustomDestructor(slab, &Slab::End);
  newest_ = slab;
}

HARENA_INLINE void* StringStore::TryPlace() {
  if (HARENA_UNLIKELY(thread_ != &thread_mark)) return nullptr;
  if (HARENA_UNLIKELY(newest_ == nullptr || newest_->used == newest_->capacity)) AddSlab();
  return newest_->strings() + newest_->used;
}

std::string* StringStore::TryMake(std::string_view text) {
  void* const place = TryPlace();
  if (HARENA_UNLIKELY(place == nullptr)) return nullptr;
  std::string* const string = MakeString(place, text);
  ++newest_->used;
  return string;
}

std::string* StringStore::TryMake(std::string&& text) {
  void* const place = TryPlace();
  if (place == nullptr) return nullptr;
  auto* string = ::new (place) std::string(std::move(text));
  ++newest_->used;
  return string;
}

}  // namespace harena::pb::codec
