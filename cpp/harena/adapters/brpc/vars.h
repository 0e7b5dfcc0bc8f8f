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

/// The variables of one method, harena_<package>_<service>_<method>_<what>. Of two servers with the
/// same method in one process the second one's get a number behind.
/// Thread rule: any thread. Lifetime rule: shown until it ends.
class MethodVars {
 public:
  explicit MethodVars(std::shared_ptr<const pb::Method> method);
  ~MethodVars();
  MethodVars(const MethodVars&) = delete;
  MethodVars& operator=(const MethodVars&) = delete;

 private:
  const std::shared_ptr<const pb::Method> method_;  // what the variables ask
  std::vector<std::unique_ptr<ShownVar>> vars_;
};

/// Shows, from the first call on and for ever, what is the process's: harena_process_*.
void ExposeProcessVars();

/// The variables of a pool, harena_pages_*; numbered like a method's.
/// Thread rule: any thread. Lifetime rule: shown until it ends, which must be before the pool does.
class PoolVars {
 public:
  explicit PoolVars(const PagePool& pool);
  ~PoolVars();
  PoolVars(const PoolVars&) = delete;
  PoolVars& operator=(const PoolVars&) = delete;

 private:
  std::vector<std::unique_ptr<ShownVar>> vars_;
};

}  // namespace harena::brpc
