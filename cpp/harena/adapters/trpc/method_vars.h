// The counts of a method among tRPC's own variables.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <trpc/tvar/basic_ops/passive_status.h>

#include "harena/pb/call/method.h"

namespace harena::trpc {

/// Shows a method's counts on tRPC's admin port, below /cmds/var/harena/methods and the method's
/// name. A method whose name is shown already (two servers of one process) is not shown again, and
/// a warning says so.
/// Thread rule: made and ended on any thread; read on tRPC's.
class MethodVars {
 public:
  explicit MethodVars(std::shared_ptr<const pb::Method> method);
  MethodVars(const MethodVars&) = delete;
  MethodVars& operator=(const MethodVars&) = delete;

 private:
  void Show(const char* name, uint64_t (*get)(const pb::MethodStats&));

  const std::shared_ptr<const pb::Method> method_;
  std::vector<std::unique_ptr<::trpc::tvar::PassiveStatus<uint64_t>>> vars_;
};

}  // namespace harena::trpc
