// A consumer of harena::mem and harena::scope.
#include <memory_resource>
#include <vector>

#include "harena/scope/scope.h"

int main() {
  harena::Scope scope;
  int* p = scope.Create<int>(42);
  std::pmr::vector<int> numbers(1000, *p, scope.resource());
  return numbers.back() == 42 ? 0 : 1;
}
