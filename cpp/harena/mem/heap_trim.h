#pragma once

#include <malloc.h>

namespace harena {

/// Asks malloc to give its free memory back to the system: glibc's malloc_trim(). Does nothing
/// where malloc is another, which have their own ways of doing that. Takes milliseconds on a large
/// heap and holds its locks meanwhile: for idle processes. Thread rule: any thread.
inline void TrimHeap() noexcept {
#if defined(__GLIBC__)
  malloc_trim(/*pad=*/0);
#endif
}

}  // namespace harena
