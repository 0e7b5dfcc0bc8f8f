#include "harena/mem/heap_trim.h"

#include <malloc.h>

namespace harena {

void TrimHeap() noexcept {
#if defined(__GLIBC__)
  malloc_trim(/*pad=*/0);
#endif
}

}  // namespace harena
