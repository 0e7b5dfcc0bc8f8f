#include "harena/base/thread_slot.h"

#include <atomic>
#include <bit>

namespace harena::base_internal {
namespace {

// A bit for each number that is taken. Without a mutex, so that a child of fork() can go on.
static_assert(kThreadSlots == 64);
constinit std::atomic<uint64_t> taken{0};

// Gives the number back when the thread ends.
struct ThreadExit {
  ~ThreadExit() {
    thread_slot = kThreadSlots;
    taken.fetch_and(~(uint64_t{1} << slot), std::memory_order_release);
  }
  const uint32_t slot;
};

}  // namespace

HARENA_NOINLINE uint32_t ClaimThreadSlot() noexcept {
  uint64_t before = taken.load(std::memory_order_relaxed);
  uint32_t slot;
  do {
    slot = static_cast<uint32_t>(std::countr_one(before));
    if (slot == kThreadSlots) break;
  } while (!taken.compare_exchange_weak(before, before | uint64_t{1} << slot,
                                        std::memory_order_acquire, std::memory_order_relaxed));
  thread_slot = slot;
  if (slot != kThreadSlots) {
    thread_local const ThreadExit exit{slot};
    static_cast<void>(exit);
  }
  return slot;
}

}  // namespace harena::base_internal
