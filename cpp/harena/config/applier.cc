#include "harena/config/applier.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"

namespace harena::config {
namespace {

size_t BytesOf(const Value& value) {
  return value.unset ? kUnlimitedBytes : static_cast<size_t>(value.integer);
}

// Lays the wanted settings, and what the code had for those that were applied and are not wanted.
pb::ServedMethods::Edit EditTo(const Settings& wanted, const Settings& applied,
                               const Options& code) {
  return [=](Options& options) {
    for (const auto& [key, value] : applied) {
      if (!wanted.contains(key)) CopyOption(key, code, options);
    }
    Lay(wanted, options);
  };
}

// Makes one change on whichever server has the method; nothing when that is gone.
std::optional<std::string> MakeOne(const std::shared_ptr<pb::Method>& method,
                                   const pb::ServedMethods::Edit& edit) {
  std::optional<std::string> problem;
  bool made = false;
  pb::ForEachServedMethods([&](pb::ServedMethods& served) {
    if (made) return;
    const auto methods = served.methods();
    if (std::find(methods.begin(), methods.end(), method) == methods.end()) return;
    problem = served.Change(method->name(), edit);
    made = true;
  });
  return problem;
}

}  // namespace

Problems Applier::Apply(const Config& config) {
  std::lock_guard lock(mutex_);
  Problems problems;
  const std::vector<Change> changes = Plan(config, /*only_new=*/false, problems);
  if (!problems.empty()) return problems;
  problems = Make(changes);
  if (!problems.empty()) return problems;
  ApplyProcess(config);
  current_ = config;
  return {};
}

Problems Applier::ApplyToNew() {
  std::lock_guard lock(mutex_);
  if (!current_) return {};
  Problems problems;
  for (const Change& change : Plan(*current_, /*only_new=*/true, problems)) {
    for (const Problem& problem : Make({change})) problems.push_back(problem);
  }
  return problems;
}

std::vector<Applier::Change> Applier::Plan(const Config& config, bool only_new,
                                           Problems& problems) {
  std::erase_if(states_, [](const auto& entry) { return entry.first.expired(); });
  std::vector<Change> changes;
  pb::ForEachServedMethods([&](pb::ServedMethods& served) {
    for (const auto& method : served.methods()) {
      const Options before = method->scopes().options();
      const auto [entry, is_new] = states_.try_emplace(method, State{before, {}});
      if (only_new && !is_new) continue;
      const Settings wanted = config.For(method->name());
      auto edit = EditTo(wanted, entry->second.applied, entry->second.code);
      Options after = before;
      edit(after);
      if (const auto reason = method->scopes().WhyNot(after)) {
        Add(problems, PlaceOfReason(wanted, *reason, config.name()),
            method->name() + ": " + *reason);
        continue;
      }
      changes.push_back({method, before, wanted, std::move(edit)});
    }
  });
  Sort(problems);
  return changes;
}

// An adapter may refuse what the scopes would take; then what was made is taken back.
Problems Applier::Make(const std::vector<Change>& changes) {
  for (size_t i = 0; i < changes.size(); ++i) {
    const auto reason = MakeOne(changes[i].method, changes[i].edit);
    if (!reason) continue;
    for (size_t made = 0; made < i; ++made) {
      const Options& before = changes[made].before;
      MakeOne(changes[made].method, [&](Options& options) { options = before; });
    }
    return {{PlaceOfReason(changes[i].wanted, *reason, changes[i].method->name()), *reason}};
  }
  for (const Change& change : changes) states_.at(change.method).applied = change.wanted;
  return {};
}

void Applier::ApplyProcess(const Config& config) {
  const Settings settings = config.Process();
  Budget& budget = ProcessBudget();
  const auto bytes_max = settings.find(kProcessBytesMaxKey);
  if (bytes_max != settings.end()) {
    if (!process_bytes_max_) process_bytes_max_ = budget.bytes_max();
    budget.set_bytes_max(BytesOf(bytes_max->second));
  } else if (process_bytes_max_) {
    budget.set_bytes_max(*process_bytes_max_);
    process_bytes_max_.reset();
  }

  PagePool& pool = PagePool::Default();
  const auto retained = settings.find(kRetainedBytesMaxKey);
  const auto decay = settings.find(kDecayAfterKey);
  const bool wanted = retained != settings.end() || decay != settings.end();
  if (!wanted && !retention_) return;
  if (!retention_) retention_ = pool.retention();
  PagePoolRetention retention = *retention_;
  if (retained != settings.end()) retention.retained_bytes_max = BytesOf(retained->second);
  if (decay != settings.end()) {
    retention.decay_after = std::chrono::milliseconds(decay->second.integer);
  }
  pool.SetRetention(retention);
  if (!wanted) retention_.reset();
}

Problems Applier::Warnings(const Config& config) {
  std::vector<std::string> served;
  pb::ForEachServedMethods([&](pb::ServedMethods& methods) {
    for (const auto& method : methods.methods()) served.push_back(method->name());
  });
  Problems warnings;
  for (const std::string& name : config.methods()) {
    if (std::find(served.begin(), served.end(), name) != served.end()) continue;
    std::string reason = "nothing serves " + Quote(name) + " yet";
    if (const auto meant = Near(name, served)) {
      reason += "; did you mean " + Quote(*meant) + "?";
    }
    Add(warnings, config.place(name), std::move(reason));
  }
  return warnings;
}

}  // namespace harena::config
