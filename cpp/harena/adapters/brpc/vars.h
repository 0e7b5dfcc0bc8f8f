// Statistics as bvars, which brpc shows and charts on its /vars page.
#pragma once

#include <memory>
#include <vector>

#include "harena/mem/page_pool.h"
#include "harena/pb/call/method.h"

namespace harena::brpc {

/// One variable on the page while it stands.
class ShownVar {
 public:
  ShownVar() = default;
  virtual ~ShownVar() = default;
  ShownVar(const ShownVar&) = delete;
  ShownVar& operator=(const ShownVar&) = delete;
};

/// Thread rule: any thread. Lifetime rule: shown until they end.
using ShownVars = std::vector<std::unique_ptr<ShownVar>>;

/// The variables of one method, harena_<package>_<service>_<method>_<what>. Of two servers with the
/// same method in one process the second one's get a number behind.
ShownVars ShowMethod(const std::shared_ptr<const pb::Method>& method);

/// The variables of a pool, harena_pages_*; numbered like a method's.
/// Lifetime rule: they must end before the pool does.
ShownVars ShowPool(const PagePool& pool);

/// Shows, from the first call on and for ever, what is the process's: harena_process_*.
void ExposeProcessVars();

}  // namespace harena::brpc
