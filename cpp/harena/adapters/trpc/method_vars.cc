#include "harena/adapters/trpc/method_vars.h"

#include <string>
#include <utility>

#include <trpc/tvar/common/tvar_group.h>

#include "harena/base/log.h"

namespace harena::trpc {

MethodVars::MethodVars(std::shared_ptr<const pb::Method> method) : method_(std::move(method)) {
  using Stats = pb::MethodStats;
  if (::trpc::tvar::TrpcVarGroup::TryGet("/harena/methods" + method_->name() + "/requests")) {
    Log(Severity::kWarning,
        method_->name() + ": another method of that name is shown among tRPC's variables already");
    return;
  }
  Show("requests", [](const Stats& stats) { return stats.requests; });
  Show("malformed", [](const Stats& stats) { return stats.malformed; });
  Show("refused", [](const Stats& stats) { return stats.refused; });
  Show("refused_request_bytes_max",
       [](const Stats& stats) { return stats.refused_by.request_bytes_max; });
  Show("refused_process_bytes_max",
       [](const Stats& stats) { return stats.refused_by.process_bytes_max; });
  Show("refused_depth_max", [](const Stats& stats) { return stats.refused_by.depth_max; });
  Show("scopes_live", [](const Stats& stats) { return uint64_t{stats.scopes.scopes_live()}; });
  Show("scopes_made", [](const Stats& stats) { return uint64_t{stats.scopes.scopes_made}; });
  Show("bytes_kept", [](const Stats& stats) { return uint64_t{stats.kept.bytes_idle}; });
}

void MethodVars::Show(const char* name, uint64_t (*get)(const pb::MethodStats&)) {
  // A method's name starts with a slash.
  const std::string path = "harena/methods" + method_->name() + "/" + name;
  vars_.push_back(std::make_unique<::trpc::tvar::PassiveStatus<uint64_t>>(
      path, [method = method_, get] { return get(method->stats()); }));
}

}  // namespace harena::trpc
