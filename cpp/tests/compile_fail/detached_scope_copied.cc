// must-not-compile: (deleted function|deleted copy constructor of) .*DetachedScope
#include <utility>

#include "harena/scope/scope.h"

void CopyADetachedScope(harena::Scope& scope) {
  harena::DetachedScope detached = scope.Detach();
#ifdef HARENA_MUST_NOT_COMPILE
  harena::DetachedScope other = detached;
#else
  harena::DetachedScope other = std::move(detached);
#endif
}
