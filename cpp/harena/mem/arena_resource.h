#pragma once

#include <memory_resource>

#include "harena/mem/arena.h"

namespace harena {

/// An Arena as a std::pmr::memory_resource, for standard containers: `std::pmr::vector<int> v(&r)`.
/// Deallocation does nothing; the memory comes back with the arena's Reset().
/// Throws BudgetExceeded (a std::bad_alloc) when the arena is refused memory.
/// Thread rule: as the arena. Lifetime rule: the arena must outlive it, and it the containers.
class ArenaResource final : public std::pmr::memory_resource {
 public:
  explicit ArenaResource(Arena& arena) noexcept : arena_(&arena) {}

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    return arena_->Allocate(bytes, alignment);
  }
  void do_deallocate(void*, size_t, size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  Arena* arena_;
};

}  // namespace harena
