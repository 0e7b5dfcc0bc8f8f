#include "harena/config/applier.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "harena/mem/budget.h"
#include "harena/mem/page_pool.h"
#include "harena/pb/admin/change_listener.h"

namespace harena::config {
namespace {

// Whose changes these are, in lists of them.
constexpr char kWho[] = "config";

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

}  // namespace

Problems Applier::Apply(const Config& config) {
  std::lock_guard lock(mutex_);
  Problems problems;
  const std::vector<Change> changes = Plan(config, /*only_new=*/false, problems);
  if (!problems.empty()) return problems;
  pb::ChangeAs(kWho, [&] {
    problems = Make(changes);
    if (problems.empty()) ApplyProcess(config);
  });
  if (!problems.empty()) return problems;
  current_ = config;
  return {};
}

Problems Applier::ApplyToNew() {
  std::lock_guard lock(mutex_);
  if (!current_) return {};
  Problems problems;
  const std::vector<Change> changes = Plan(*current_, /*only_new=*/true, problems);
  if (changes.empty()) return problems;
  pb::ChangeAs(kWho, [&] {
    for (const Change& change : changes) {
      for (const Problem& problem : Make({change})) problems.push_back(problem);
    }
  });
  return problems;
}

std::vector<Applier::Change> Applier::Plan(const Config& config, bool only_new,
                                           Problems& problems) {
  std::erase_if(states_, [](const auto& entry) { return entry.first.expired(); });
  std::vector<Change> changes;
  pb::ForEachServedMethod([&](const auto& method, const pb::ServedMethods&) {
    const Options before = method->scopes().options();
    const auto [entry, is_new] = states_.try_emplace(method, State{before, {}});
    if (only_new && !is_new) return;
    const Settings wanted = config.For(method->name());
    auto edit = EditTo(wanted, entry->second.applied, entry->second.code);
    Options after = before;
    edit(after);
    if (const auto reason = method->scopes().WhyNot(after)) {
      Add(problems, PlaceOfReason(wanted, *reason, config.name()), method->name() + ": " + *reason);
      return;
    }
    changes.push_back({method, wanted, std::move(edit)});
  });
  Sort(problems);
  return changes;
}

Problems Applier::Make(const std::vector<Change>& changes) {
  std::vector<pb::MethodChange> all;
  all.reserve(changes.size());
  for (const Change& change : changes)
    all.push_back({.method = change.method, .edit = change.edit});
  if (const auto refused = pb::ChangeAll(all)) {
    const Change& change = changes[refused->index];
    return {
        {PlaceOfReason(change.wanted, refused->reason, change.method->name()), refused->reason}};
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
  pb::ForEachServedMethod(
      [&](const auto& method, const pb::ServedMethods&) { served.push_back(method->name()); });
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
