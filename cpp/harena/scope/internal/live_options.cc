#include "harena/scope/internal/live_options.h"

namespace harena::scope_internal {

std::optional<std::string> LiveOptions::WhyFixed(const Options& changed) const {
  const char* fixed = nullptr;
  if (changed.page_pool != initial_.page_pool) fixed = "page_pool";
  if (changed.quarantine_one_in != initial_.quarantine_one_in) fixed = "quarantine_one_in";
  if (changed.reuse_instances_max != initial_.reuse_instances_max) fixed = "reuse_instances_max";
  if (changed.reuse_bytes_max != initial_.reuse_bytes_max) fixed = "reuse_bytes_max";
  if (changed.reuse_growth_max != initial_.reuse_growth_max) fixed = "reuse_growth_max";
  if (fixed == nullptr) return std::nullopt;
  return std::string(fixed) + " cannot be changed while the server runs; set it where it is made";
}

}  // namespace harena::scope_internal
