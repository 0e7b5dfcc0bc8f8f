// A shared object with its own copy of Harena, for dlclose_test.cc.
#include <cstdint>

#include "harena/mem/page_pool.h"
#include "harena/scope/scope_pool.h"

using harena::PagePool;
using harena::Scope;
using harena::ScopePool;

/// Serves from a pool of its own and from the process's; 0 when all went well.
extern "C" __attribute__((visibility("default"))) int UseHarena() {
  {
    PagePool pool;
    ScopePool scopes({.page_pool = &pool});
    for (int i = 0; i < 10; ++i) {
      Scope scope = scopes.Acquire();
      *scope.Create<uint64_t>() = 1;
    }
    if (pool.stats().bytes_in_use != 0) return 1;
  }
  Scope scope;
  *scope.Create<uint64_t>() = 2;
  return 0;
}

/// Gives back what the process's pool keeps: what a plug-in does before it is closed.
extern "C" __attribute__((visibility("default"))) uint64_t TrimHarena() {
  PagePool::Default().Trim();
  return PagePool::Default().stats().bytes_mapped;
}
