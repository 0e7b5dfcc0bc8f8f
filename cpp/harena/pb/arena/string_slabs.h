#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <google/protobuf/arena.h>

#include "harena/base/compiler.h"
#include "harena/pb/arena/string_buffers.h"

namespace harena::pb {

/// The ordinary strings of one scope's messages: objects in slabs on the scope's protobuf arena,
/// buffers from MakeString(). One cleanup of the arena ends a whole slab.
///
/// Thread rule: strings are made by the thread that made the store; on any other, TryMake() answers
/// null and the caller goes protobuf's way. Lifetime rule: its strings end when the arena is reset
/// or ends, which must be while the store stands.
class StringSlabs {
 public:
  /// With `wipe` what the strings hold is overwritten with zeroes as they end.
  explicit StringSlabs(google::protobuf::Arena& arena, bool wipe = false) noexcept;
  StringSlabs(const StringSlabs&) = delete;
  StringSlabs& operator=(const StringSlabs&) = delete;

  /// A string with that content, or null when this is another thread than the store's.
  /// Throws std::bad_alloc, and what the arena's block hook throws.
  HARENA_INLINE std::string* TryMake(std::string_view text) {
    void* const place = TryPlace();
    if (HARENA_UNLIKELY(place == nullptr)) return nullptr;
    std::string* const string = MakeString(place, text);
    ++newest_->used;
    return string;
  }
  HARENA_INLINE std::string* TryMake(const std::string& text) {
    void* const place = TryPlace();
    if (HARENA_UNLIKELY(place == nullptr)) return nullptr;
    std::string* const string = CopyString(place, text);
    ++newest_->used;
    return string;
  }
  /// The same, taking the buffer over.
  std::string* TryMake(std::string&& text) {
    void* const place = TryPlace();
    if (place == nullptr) return nullptr;
    auto* string = ::new (place) std::string(std::move(text));
    ++newest_->used;
    return string;
  }

  /// Copies of `count` strings; their addresses go to `to`. Throws likewise, and then nobody has to
  /// end those that are there already.
  /// REQUIRES: IsHere().
  void Copy(const std::string* const* from, size_t count, void** to);

  bool IsHere() const noexcept { return thread_ == &thread_mark_; }

 private:
  struct Slab {
    StringSlabs* store;
    uint32_t used;
    uint32_t capacity;

    std::string* strings() noexcept { return reinterpret_cast<std::string*>(this + 1); }
    static size_t BytesFor(uint32_t capacity) noexcept {
      return sizeof(Slab) + capacity * sizeof(std::string);
    }
    // The arena's cleanup.
    static void End(void* object) noexcept;
  };

  HARENA_INLINE void* TryPlace() {
    if (HARENA_UNLIKELY(!IsHere())) return nullptr;
    if (HARENA_UNLIKELY(newest_ == nullptr || newest_->used == newest_->capacity)) AddSlab();
    return newest_->strings() + newest_->used;
  }
  void AddSlab();

  // Its address tells one live thread from another.
  static thread_local constinit inline char thread_mark_ = 0;

  google::protobuf::Arena& arena_;
  const void* const thread_;
  const bool wipe_;
  Slab* newest_ = nullptr;
};

}  // namespace harena::pb
