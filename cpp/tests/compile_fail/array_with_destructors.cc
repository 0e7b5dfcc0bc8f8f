// must-not-compile: an arena array runs no destructors; use std::pmr::vector on a resource
#include <string>

#include "harena/mem/arena.h"

void MakeAnArray(harena::Arena& arena) {
  arena.CreateArray<int>(10);
#ifdef HARENA_MUST_NOT_COMPILE
  arena.CreateArray<std::string>(10);
#endif
}
