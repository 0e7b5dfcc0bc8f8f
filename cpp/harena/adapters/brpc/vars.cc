#include "harena/adapters/brpc/vars.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include <bvar/bvar.h>

#include "harena/mem/budget.h"
#include "harena/pb/arena/block_hooks.h"
#include "harena/pb/arena/string_buffers.h"
#include "harena/scope/mode.h"

namespace harena::brpc {
namespace {

using Vars = std::vector<std::unique_ptr<ShownVar>>;

// A number that is asked of its subject whenever somebody looks, and each second for the chart.
template <typename Subject>
class NumberVar final : public ShownVar {
 public:
  using Get = uint64_t (*)(const Subject&);
  NumberVar(const std::string& prefix, const char* name, const Subject& subject, Get get)
      : subject_(subject), get_(get), shown_(prefix, name, &Ask, this) {}

 private:
  static int64_t Ask(void* self) {
    const auto& var = *static_cast<const NumberVar*>(self);
    return static_cast<int64_t>(var.get_(var.subject_));
  }

  const Subject& subject_;
  const Get get_;
  bvar::PassiveStatus<int64_t> shown_;
};

// A word likewise.
template <typename Subject>
class WordVar final : public ShownVar {
 public:
  using Get = std::string_view (*)(const Subject&);
  WordVar(const std::string& prefix, const char* name, const Subject& subject, Get get)
      : subject_(subject), get_(get), shown_(prefix, name, &Print, this) {}

 private:
  static void Print(std::ostream& out, void* self) {
    const auto& var = *static_cast<const WordVar*>(self);
    out << var.get_(var.subject_);
  }

  const Subject& subject_;
  const Get get_;
  bvar::PassiveStatus<std::string> shown_;
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

template <typename Subject>
struct Adder {
  Vars& vars;
  const std::string& prefix;
  const Subject& subject;

  void Number(const char* name, typename NumberVar<Subject>::Get get) const {
    vars.push_back(std::make_unique<NumberVar<Subject>>(prefix, name, subject, get));
  }
  void Word(const char* name, typename WordVar<Subject>::Get get) const {
    vars.push_back(std::make_unique<WordVar<Subject>>(prefix, name, subject, get));
  }
};

}  // namespace

MethodVars::MethodVars(std::shared_ptr<const pb::Method> method) : method_(std::move(method)) {
  using M = pb::Method;
  const std::string prefix = FreePrefix("harena_" + method_->name(), "requests");
  const Adder<M> add{vars_, prefix, *method_};
  add.Word("mode", [](const M& m) { return ToString(m.scopes().mode()); });
  add.Word("served", [](const M& m) { return ToString(m.ServedAs(m.scopes().mode())); });
  add.Number("requests", [](const M& m) { return m.requests(); });
  add.Number("malformed", [](const M& m) { return m.stats().malformed; });
  add.Number("refused", [](const M& m) { return m.refused_by().total(); });
  add.Number("refused_request_bytes_max",
             [](const M& m) { return m.refused_by().request_bytes_max; });
  add.Number("refused_process_bytes_max",
             [](const M& m) { return m.refused_by().process_bytes_max; });
  add.Number("refused_depth_max", [](const M& m) { return m.refused_by().depth_max; });
  add.Number("request_bytes_max", [](const M& m) -> uint64_t {
    const size_t bytes_max = m.scopes().options().request_bytes_max;
    return bytes_max == kUnlimitedBytes ? 0 : bytes_max;
  });
  add.Number("scopes_live", [](const M& m) { return m.scopes().stats().scopes_live(); });
  add.Number("scopes_made", [](const M& m) { return m.scopes().stats().scopes_made; });
  add.Number("scopes_detached", [](const M& m) { return m.scopes().stats().scopes_detached; });
  add.Number("scopes_refused", [](const M& m) { return m.scopes().stats().scopes_refused; });
  add.Number("bytes_p50", [](const M& m) { return m.scopes().stats().bytes_p50; });
  add.Number("bytes_p90", [](const M& m) { return m.scopes().stats().bytes_p90; });
  add.Number("bytes_p99", [](const M& m) { return m.scopes().stats().bytes_p99; });
  add.Number("first_block_bytes",
             [](const M& m) -> uint64_t { return m.scopes().stats().first_block_bytes; });
  add.Number("reuse_built", [](const M& m) { return m.stats().kept.instances_built; });
  add.Number("reuse_dropped", [](const M& m) { return m.stats().kept.instances_dropped; });
  add.Number("reuse_idle", [](const M& m) -> uint64_t { return m.stats().kept.instances_idle; });
  add.Number("reuse_idle_bytes", [](const M& m) -> uint64_t { return m.stats().kept.bytes_idle; });
}

MethodVars::~MethodVars() = default;

PoolVars::PoolVars(const PagePool& pool) {
  using P = PagePool;
  const std::string prefix = FreePrefix("harena_pages", "page_bytes");
  const Adder<P> add{vars_, prefix, pool};
  add.Number("page_bytes", [](const P& p) -> uint64_t { return p.options().page_bytes; });
  add.Number("bytes_in_use", [](const P& p) -> uint64_t { return p.stats().bytes_in_use; });
  add.Number("bytes_thread_cached",
             [](const P& p) -> uint64_t { return p.stats().bytes_thread_cached; });
  add.Number("bytes_retained", [](const P& p) -> uint64_t { return p.stats().bytes_retained; });
  add.Number("bytes_cold", [](const P& p) -> uint64_t { return p.stats().bytes_cold; });
  add.Number("bytes_mapped", [](const P& p) -> uint64_t { return p.stats().bytes_mapped; });
  add.Number("bytes_huge_advised",
             [](const P& p) -> uint64_t { return p.stats().bytes_huge_advised; });
  add.Number("bytes_decommitted", [](const P& p) { return p.stats().bytes_decommitted; });
  add.Number("blocks_allocated", [](const P& p) { return p.stats().blocks_allocated; });
  add.Number("blocks_freed", [](const P& p) { return p.stats().blocks_freed; });
  add.Number("blocks_moved", [](const P& p) { return p.stats().blocks_moved; });
  add.Number("regions_mapped", [](const P& p) { return p.stats().regions_mapped; });
  add.Number("regions_unmapped", [](const P& p) { return p.stats().regions_unmapped; });
  add.Number("refusals", [](const P& p) { return p.stats().refusals; });
}

PoolVars::~PoolVars() = default;

void ExposeProcessVars() {
  // Refers to what stays for ever; a pointer that nobody reads would be optimised away, and the
  // variables with it be a leak to whoever looks for one.
  static Vars& shown = *new Vars;
  static const bool done = [] {
    using B = Budget;
    const std::string prefix = "harena_process";
    const Adder<B> add{shown, prefix, ProcessBudget()};
    add.Number("bytes_used", [](const B& b) -> uint64_t { return b.bytes_used(); });
    add.Number("bytes_max", [](const B& b) -> uint64_t {
      return b.bytes_max() == kUnlimitedBytes ? 0 : b.bytes_max();
    });
    add.Number("refusals", [](const B& b) { return b.refusals(); });
    add.Number("system_refusals", [](const B&) { return pb::SystemRefusals(); });
    add.Number("unframed_overruns", [](const B&) { return pb::UnframedOverruns(); });
    add.Number("string_bodies_bytes",
               [](const B&) -> uint64_t { return pb::GetStringBufferStats().bytes_shared; });
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace harena::brpc
