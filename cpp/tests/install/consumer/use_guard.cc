// A consumer of harena::guard: a pool of its own that asks for hardening, without a scope.
#include "harena/guard/hardening.h"
#include "harena/mem/page_pool.h"

int main() {
  harena::PagePool pool(harena::PagePoolOptions::Hardened());
  const harena::Block block = pool.TryAllocate(1);
  if (!block) return 1;
  static_cast<char*>(block.data)[0] = 'x';
  pool.Free(block.data, block.bytes);
  const harena::Block wiped = pool.TryAllocate(1);
  const char first = static_cast<char*>(wiped.data)[0];
  pool.Free(wiped.data, wiped.bytes);
  return pool.guard() != nullptr && first == 0 ? 0 : 1;
}
