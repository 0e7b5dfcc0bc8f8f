#include "harena/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace harena {

void FailCheck(const char* file, int line, const char* condition, const char* message) noexcept {
  // stdio's buffer on standard error is unbuffered, so nothing is lost by the abort.
  std::fprintf(stderr, "harena: %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace harena
