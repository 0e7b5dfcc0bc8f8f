// must-not-compile: cannot convert .harena::Scope.|discards qualifiers|expects an lvalue
#include "harena/scope/scope_pool.h"

void CreateAnObject(harena::ScopePool& scopes) {
  harena::Scope scope = scopes.Acquire();
  int* number = scope.Create<int>(1);
#ifdef HARENA_MUST_NOT_COMPILE
  number = scopes.Acquire().Create<int>(2);
#endif
  static_cast<void>(number);
}
