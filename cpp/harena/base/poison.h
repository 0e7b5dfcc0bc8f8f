// Tells the sanitizers which of our bytes nobody may touch. Empty in other builds, so call sites
// carry no condition. Recycled memory hides use-after-free from ASan unless it is poisoned on
// return; this is that poisoning.
#pragma once

#include <cstddef>

#include "harena/base/compiler.h"

#if HARENA_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#elif HARENA_MSAN
#include <sanitizer/msan_interface.h>
#endif

namespace harena {

/// What bump allocators leave poisoned behind each object; 0 where nobody would see it.
inline constexpr size_t kRedzoneBytes = HARENA_ASAN ? 16 : 0;

/// Marks [data, data + bytes) as not to be touched: ASan reports any access, MSan treats the bytes
/// as uninitialised. Thread rule: the caller owns the bytes.
inline void Poison([[maybe_unused]] const void* data, [[maybe_unused]] size_t bytes) noexcept {
#if HARENA_ASAN
  __asan_poison_memory_region(data, bytes);
#elif HARENA_MSAN
  __msan_poison(const_cast<void*>(data), bytes);
#endif
}

/// Undoes Poison() for ASan. Under MSan the bytes stay uninitialised until somebody writes them.
inline void Unpoison([[maybe_unused]] const void* data, [[maybe_unused]] size_t bytes) noexcept {
#if HARENA_ASAN
  __asan_unpoison_memory_region(data, bytes);
#endif
}

/// Tells the leak checker that pointers in [data, data + bytes), which it would not look at, keep
/// their targets reachable.
inline void MarkAsRoot([[maybe_unused]] const void* data, [[maybe_unused]] size_t bytes) noexcept {
#if HARENA_ASAN
  __lsan_register_root_region(data, bytes);
#endif
}

/// True when an access to `data` would be reported. Always false without ASan.
inline bool IsPoisoned([[maybe_unused]] const void* data) noexcept {
#if HARENA_ASAN
  return __asan_address_is_poisoned(data) != 0;
#else
  return false;
#endif
}

}  // namespace harena
