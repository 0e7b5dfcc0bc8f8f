// Programmer errors stop the process with a sentence that says what to fix.
// Operating conditions (memory refused, budget reached) are values, never checks.
#pragma once

#include "harena/base/compiler.h"

namespace harena {

/// Prints `harena: FILE:LINE: MESSAGE (CONDITION)` to standard error and aborts.
/// Thread rule: any thread.
[[noreturn]] HARENA_NOINLINE void FailCheck(const char* file, int line, const char* condition,
                                            const char* message) noexcept;

}  // namespace harena

/// Stops when `condition` is false, in every build. `message` says what to fix.
#define HARENA_CHECK(condition, message)           \
  (HARENA_LIKELY(condition) ? static_cast<void>(0) \
                            : ::harena::FailCheck(__FILE__, __LINE__, #condition, message))

/// The same in debug builds only; for checks on a path that is counted in nanoseconds.
#ifdef NDEBUG
#define HARENA_DCHECK(condition, message) static_cast<void>(sizeof(!(condition)))
#else
#define HARENA_DCHECK(condition, message) HARENA_CHECK(condition, message)
#endif
