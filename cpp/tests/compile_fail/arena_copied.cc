// must-not-compile: (deleted function|deleted constructor of) .*Arena
#include "harena/mem/arena.h"

void CopyAnArena(harena::Arena& arena) {
#ifdef HARENA_MUST_NOT_COMPILE
  harena::Arena other = arena;
#else
  harena::Arena& other = arena;
#endif
  static_cast<void>(other);
}
