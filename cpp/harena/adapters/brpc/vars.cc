#include "harena/adapters/brpc/vars.h"

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <bvar/bvar.h>

#include "harena/mem/budget.h"
#include "harena/pb/admin/counts.h"
#include "harena/pb/arena/string_buffers.h"
#include "harena/scope/mode.h"

namespace harena::brpc {
namespace {

// A number that is asked for whenever somebody looks, and each second for the chart.
class NumberVar final : public ShownVar {
 public:
  NumberVar(const std::string& prefix, const char* name, std::function<uint64_t()> get)
      : get_(std::move(get)), shown_(prefix, name, &Ask, this) {}

 private:
  static int64_t Ask(void* self) {
    return static_cast<int64_t>(static_cast<const NumberVar*>(self)->get_());
  }

  const std::function<uint64_t()> get_;
  bvar::PassiveStatus<int64_t> shown_;
};

// A word likewise.
class WordVar final : public ShownVar {
 public:
  WordVar(const std::string& prefix, const char* name, std::function<std::string_view()> get)
      : get_(std::move(get)), shown_(prefix, name, &Print, this) {}

 private:
  static void Print(std::ostream& out, void* self) {
    out << static_cast<const WordVar*>(self)->get_();
  }

  const std::function<std::string_view()> get_;
  bvar::PassiveStatus<std::string> shown_;
};

using M = pb::Method;

const pb::Count<M> kMethodCounts[] = {
    {"requests", [](const M& m) { return m.requests(); }},
    {"malformed", [](const M& m) { return m.stats().malformed; }},
    {"refused", [](const M& m) { return m.refused_by().total(); }},
    {"refused_request_bytes_max", [](const M& m) { return m.refused_by().request_bytes_max; }},
    {"refused_process_bytes_max", [](const M& m) { return m.refused_by().process_bytes_max; }},
    {"refused_depth_max", [](const M& m) { return m.refused_by().depth_max; }},
    {"request_bytes_max",
     [](const M& m) { return pb::BytesOrZero(m.scopes().options().request_bytes_max); }},
    {"scopes_live", [](const M& m) { return m.scopes().stats().scopes_live(); }},
    {"scopes_made", [](const M& m) { return m.scopes().stats().scopes_made; }},
    {"scopes_detached", [](const M& m) { return m.scopes().stats().scopes_detached; }},
    {"scopes_refused", [](const M& m) { return m.scopes().stats().scopes_refused; }},
    {"bytes_p50", [](const M& m) { return m.scopes().stats().bytes_p50; }},
    {"bytes_p90", [](const M& m) { return m.scopes().stats().bytes_p90; }},
    {"bytes_p99", [](const M& m) { return m.scopes().stats().bytes_p99; }},
    {"first_block_bytes",
     [](const M& m) -> uint64_t { return m.scopes().stats().first_block_bytes; }},
    {"reuse_built", [](const M& m) { return m.stats().kept.instances_built; }},
    {"reuse_dropped", [](const M& m) { return m.stats().kept.instances_dropped; }},
    {"reuse_idle", [](const M& m) -> uint64_t { return m.stats().kept.instances_idle; }},
    {"reuse_idle_bytes", [](const M& m) -> uint64_t { return m.stats().kept.bytes_idle; }},
};

// `wanted`, with a number behind when it is in use.
std::string FreePrefix(const std::string& wanted, const char* any_name) {
  const auto in_use = [&](const std::string& prefix) {
    std::string name;
    bvar::to_underscored_name(&name, prefix + "_" + any_name);
    return !bvar::Variable::describe_exposed(name).empty();
  };
  std::string prefix = wanted;
  for (int number = 2; in_use(prefix); ++number) prefix = wanted + "_" + std::to_string(number);
  return prefix;
}

}  // namespace

ShownVars ShowMethod(const std::shared_ptr<const pb::Method>& method) {
  const std::string prefix = FreePrefix("harena_" + method->name(), "requests");
  ShownVars vars;
  vars.push_back(std::make_unique<WordVar>(prefix, "mode",
                                           [method] { return ToString(method->scopes().mode()); }));
  vars.push_back(std::make_unique<WordVar>(
      prefix, "served", [method] { return ToString(method->ServedAs(method->scopes().mode())); }));
  for (const auto& [name, get] : kMethodCounts) {
    vars.push_back(
        std::make_unique<NumberVar>(prefix, name, [method, get = get] { return get(*method); }));
  }
  return vars;
}

ShownVars ShowPool(const PagePool& pool) {
  const std::string prefix = FreePrefix("harena_pages", "page_bytes");
  ShownVars vars;
  vars.push_back(std::make_unique<NumberVar>(prefix, "page_bytes",
                                             [&pool] { return pool.options().page_bytes; }));
  for (const auto& [name, get] : pb::kPoolCounts) {
    vars.push_back(
        std::make_unique<NumberVar>(prefix, name, [&pool, get = get] { return get(pool); }));
  }
  return vars;
}

void ExposeProcessVars() {
  // Refers to what stays for ever; a pointer that nobody reads would be optimised away, and the
  // variables with it be a leak to whoever looks for one.
  static const ShownVars& shown = *[] {
    const std::string prefix = "harena_process";
    auto* vars = new ShownVars;
    for (const auto& [name, get] : pb::kProcessCounts) {
      vars->push_back(
          std::make_unique<NumberVar>(prefix, name, [get = get] { return get(ProcessBudget()); }));
    }
    vars->push_back(std::make_unique<NumberVar>(
        prefix, "string_bodies_bytes", [] { return pb::GetStringBufferStats().bytes_shared; }));
    return vars;
  }();
  static_cast<void>(shown);
}

}  // namespace harena::brpc
