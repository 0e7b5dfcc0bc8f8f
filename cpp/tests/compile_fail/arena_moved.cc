// must-not-compile: (deleted function|deleted constructor of) .*Arena
//
// What an arena handed out points into it, and a scope's arena points into its own first block.
#include <utility>

#include "harena/mem/arena.h"

void MoveAnArena(harena::Arena& arena) {
#ifdef HARENA_MUST_NOT_COMPILE
  harena::Arena other = std::move(arena);
#else
  harena::Arena& other = arena;
#endif
  static_cast<void>(other);
}
