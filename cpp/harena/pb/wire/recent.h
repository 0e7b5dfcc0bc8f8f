// What a thread asked about types a moment ago.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "harena/base/compiler.h"

namespace harena::pb::wire {

/// Answers about a few keys, two at each place that a key's address gives: there a new key takes
/// the place of the one that was asked about longer ago. For what a server's threads ask for the
/// same few types over and over, and what is found under a lock. Thread rule: one thread; meant to
/// be thread_local. Lifetime rule: keys are compared and nothing else; what answers point to must
/// live as long as the keys.
template <typename Key, typename Answer>
class Recent {
 public:
  static constexpr size_t kPlaces = 32;

  constexpr Recent() = default;

  /// The answer about `key`, which is not null: the one that is there, or else what `find` returns.
  /// What `find` throws goes on to the caller, and nothing has changed.
  template <typename Find>
  Answer Get(const Key* key, Find find) {
    Place& place = places_[PlaceOf(key)];
    if (HARENA_UNLIKELY(place.newer.key != key)) {
      const Entry found = place.older.key == key ? place.older : Entry{key, find()};
      place.older = place.newer;
      place.newer = found;
    }
    return place.newer.answer;
  }

  /// Where `key` stands: the upper bits of a product, as objects of one kind lie at equal
  /// distances.
  static size_t PlaceOf(const Key* key) noexcept {
    constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    return static_cast<size_t>((reinterpret_cast<uintptr_t>(key) * kGoldenRatio) >> kShift);
  }

 private:
  static constexpr int kShift = 64 - std::countr_zero(kPlaces);
  static_assert(std::has_single_bit(kPlaces));

  struct Entry {
    const Key* key = nullptr;
    Answer answer{};
  };
  struct Place {
    Entry newer, older;
  };

  std::array<Place, kPlaces> places_{};
};

}  // namespace harena::pb::wire
