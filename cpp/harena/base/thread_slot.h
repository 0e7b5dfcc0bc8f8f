// Numbers for threads, small enough to be places of an array.
#pragma once

#include <cstdint>

#include "harena/base/compiler.h"

namespace harena {

/// How many threads of the process have a number of their own at once.
inline constexpr uint32_t kThreadSlots = 64;

namespace base_internal {

inline constexpr uint32_t kNoThreadSlotYet = UINT32_MAX;
inline thread_local constinit uint32_t thread_slot = kNoThreadSlotYet;
uint32_t ClaimThreadSlot() noexcept;

}  // namespace base_internal

/// The calling thread's number: below kThreadSlots, and then no other thread's until this one has
/// ended, so that what is kept under it needs no locked instruction; what the thread before stored
/// there is seen. kThreadSlots for threads that came while all were taken, and for what runs in a
/// thread's last destructors. Wait-free after the first call.
HARENA_INLINE uint32_t ThreadSlot() noexcept {
  const uint32_t slot = base_internal::thread_slot;
  return HARENA_LIKELY(slot != base_internal::kNoThreadSlotYet) ? slot
                                                                : base_internal::ClaimThreadSlot();
}

}  // namespace harena
