// must-not-compile: (deleted function|deleted constructor of) .*Scope
#include <utility>

#include "harena/scope/scope.h"

harena::Scope Moved(harena::Scope scope) { return scope; }

void CopyAScope() {
  harena::Scope scope;
#ifdef HARENA_MUST_NOT_COMPILE
  Moved(scope);
#else
  Moved(std::move(scope));
#endif
}
