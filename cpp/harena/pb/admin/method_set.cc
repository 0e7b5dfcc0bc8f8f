#include "harena/pb/admin/method_set.h"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "harena/base/clock.h"
#include "harena/mem/heap_trim.h"
#include "harena/pb/arena/string_buffers.h"

namespace harena::pb {

void MethodSet::Add(std::shared_ptr<Method> method) {
  std::lock_guard lock(mutex_);
  methods_.push_back(std::move(method));
}

std::shared_ptr<Method> MethodSet::Find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  for (const auto& method : methods_) {
    if (method->name() == name) return method;
  }
  return nullptr;
}

std::vector<std::shared_ptr<Method>> MethodSet::methods() const {
  std::lock_guard lock(mutex_);
  return methods_;
}

std::string MethodSet::UnknownMethod(std::string_view name) const {
  std::string text = "no covered method is named \"" + std::string(name) + "\"; there are:";
  for (const auto& method : methods()) text += " " + method->name();
  return text;
}

std::optional<std::string> MethodSet::WhyNot(const Method& method, const Edit& edit) const {
  Options changed = method.scopes().options();
  edit(changed);
  auto problem = method.scopes().WhyNot(changed);
  if (!problem && check_ != nullptr) problem = check_(changed);
  if (problem) problem->insert(0, method.name() + ": ");
  return problem;
}

std::optional<std::string> MethodSet::Change(const Edit& edit) {
  std::lock_guard lock(change_);
  const auto all = methods();
  for (const auto& method : all) {
    if (auto problem = WhyNot(*method, edit)) return problem;
  }
  for (const auto& method : all) {
    if (auto problem = method->Change(edit)) return problem;
  }
  return std::nullopt;
}

std::optional<std::string> MethodSet::Change(std::string_view name, const Edit& edit) {
  const std::shared_ptr<Method> method = Find(name);
  if (method == nullptr) return UnknownMethod(name);
  std::lock_guard lock(change_);
  if (auto problem = WhyNot(*method, edit)) return problem;
  return method->Change(edit);
}

std::optional<std::string> MethodSet::SetMode(Mode mode) {
  return Change([=](Options& options) { options.mode = mode; });
}

std::optional<std::string> MethodSet::SetMode(std::string_view name, Mode mode) {
  return Change(name, [=](Options& options) { options.mode = mode; });
}

std::optional<std::string> MethodSet::SetRequestBytesMax(size_t bytes) {
  return Change([=](Options& options) { options.request_bytes_max = bytes; });
}

std::optional<std::string> MethodSet::SetRequestBytesMax(std::string_view name, size_t bytes) {
  return Change(name, [=](Options& options) { options.request_bytes_max = bytes; });
}

std::vector<MethodStats> MethodSet::stats() const {
  std::vector<MethodStats> stats;
  for (const auto& method : methods()) stats.push_back(method->stats());
  return stats;
}

void MethodSet::StartDecay(std::chrono::milliseconds interval, bool trim_heap) {
  background_decay_.emplace(interval, [this, trim_heap] { Decay(trim_heap); });
}

// Without memory for its lists it is put off until the next time.
void MethodSet::Decay(bool trim_heap) noexcept try {
  const auto all = methods();
  std::set<PagePool*> pools;
  for (const auto& method : all) pools.insert(&method->scopes().options().pool());
  const bool give_back_all = HasBecomeIdle(all);
  for (const auto& method : all) {
    give_back_all ? method->keeper().Trim() : method->keeper().Decay();
  }
  for (PagePool* pool : pools) give_back_all ? pool->Trim() : pool->Decay();
  give_back_all ? TrimStringBuffers() : DecayStringBuffers();
  if (give_back_all && trim_heap) TrimHeap();
} catch (const std::bad_alloc&) {
}

// True once per quiet time: when no request has come for as long as free memory is kept.
bool MethodSet::HasBecomeIdle(const std::vector<std::shared_ptr<Method>>& methods) noexcept {
  uint64_t requests = 0;
  uint64_t decay_ms = 0;
  for (const auto& method : methods) {
    requests += method->requests();
    decay_ms = std::max<uint64_t>(
        decay_ms,
        static_cast<uint64_t>(method->scopes().options().pool().retention().decay_after.count()));
  }
  const uint64_t now_ms = CoarseMillis();
  if (requests != requests_seen_) {
    requests_seen_ = requests;
    quiet_since_ms_ = now_ms;
    idle_ = false;
  }
  if (idle_ || decay_ms == 0 || now_ms - quiet_since_ms_ < decay_ms) return false;
  idle_ = true;
  return true;
}

}  // namespace harena::pb
