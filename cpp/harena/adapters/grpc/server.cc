#include "harena/adapters/grpc/server.h"

#include <algorithm>
#include <set>

#include "harena/base/check.h"
#include "harena/base/clock.h"
#include "harena/base/log.h"
#include "harena/mem/heap_trim.h"
#include "harena/pb/codec/string_bodies.h"

namespace harena::grpc {
namespace {

// What is wrong with `change` for the first method that it does not suit: a change for all of them
// is looked at before it is made for any.
template <typename Change>
std::optional<std::string> WhyNotForAll(const std::vector<std::shared_ptr<Method>>& methods,
                                        Change change) {
  for (const auto& method : methods) {
    Options changed = method->scopes().options();
    change(changed);
    if (auto problem = changed.Validate()) return method->name() + ": " + *problem;
  }
  return std::nullopt;
}

}  // namespace

Server::~Server() = default;

void Server::Adopt(Installer& installer) {
  methods_ = std::move(installer.methods_);
  uncovered_ = std::move(installer.uncovered_);
  for (const auto& [name, options] : installer.options_.methods) {
    if (Find(name) == nullptr) {
      FailCheck("harena::grpc::Server", 0, "ServerOptions::methods", UnknownMethod(name).c_str());
    }
  }
  SayWhatHasNoCodec();
  if (installer.options_.decay_interval.count() > 0) {
    background_decay_.emplace(
        installer.options_.decay_interval,
        [this, trim_heap = installer.options_.trim_heap_when_idle] { Decay(trim_heap); });
  }
}

// One line: what a server does otherwise than it was told is not to be found out by measuring.
void Server::SayWhatHasNoCodec() const {
  std::string without;
  size_t wanted = 0;
  for (const auto& method : methods_) {
    const Mode mode = method->scopes().mode();
    if (mode != Mode::kCodec) continue;
    ++wanted;
    if (method->ServedAs(mode) != mode) without += " " + method->name();
  }
  if (without.empty()) return;
  Log(Severity::kInfo,
      "mode codec is served as pages where messages were generated without it (of " +
          std::to_string(wanted) + " methods):" + without);
}

void Server::Decay(bool trim_heap) noexcept {
  std::set<PagePool*> pools;
  for (const auto& method : methods_) pools.insert(&method->scopes().options().pool());
  const bool give_back_all = HasBecomeIdle();
  for (const auto& method : methods_) {
    give_back_all ? method->keeper().Trim() : method->keeper().Decay();
  }
  for (PagePool* pool : pools) give_back_all ? pool->Trim() : pool->Decay();
  if (give_back_all) pb::codec::TrimStringBodies();
  if (give_back_all && trim_heap) TrimHeap();
}

// True once per quiet time: when no request has come for as long as free memory is kept.
bool Server::HasBecomeIdle() noexcept {
  uint64_t requests = 0;
  uint64_t decay_ms = 0;
  for (const auto& method : methods_) {
    requests += method->requests();
    decay_ms = std::max<uint64_t>(
        decay_ms,
        static_cast<uint64_t>(method->scopes().options().pool().options().decay_after.count()));
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

Method* Server::Find(std::string_view name) const noexcept {
  for (const auto& method : methods_) {
    if (method->name() == name) return method.get();
  }
  return nullptr;
}

std::string Server::UnknownMethod(std::string_view name) const {
  std::string text = "no covered method is named \"" + std::string(name) + "\"; there are:";
  for (const auto& method : methods_) text += " " + method->name();
  return text;
}

std::optional<std::string> Server::SetMode(Mode mode) {
  std::lock_guard lock(change_);
  if (auto problem = WhyNotForAll(methods_, [=](Options& options) { options.mode = mode; })) {
    return problem;
  }
  for (const auto& method : methods_) {
    if (auto problem = method->SetMode(mode)) return problem;
  }
  return std::nullopt;
}

std::optional<std::string> Server::SetMode(std::string_view name, Mode mode) {
  Method* method = Find(name);
  if (method == nullptr) return UnknownMethod(name);
  std::lock_guard lock(change_);
  return method->SetMode(mode);
}

std::optional<std::string> Server::SetRequestBytesMax(size_t bytes) {
  std::lock_guard lock(change_);
  if (auto problem =
          WhyNotForAll(methods_, [=](Options& options) { options.request_bytes_max = bytes; })) {
    return problem;
  }
  for (const auto& method : methods_) {
    if (auto problem = method->SetRequestBytesMax(bytes)) return problem;
  }
  return std::nullopt;
}

std::optional<std::string> Server::SetRequestBytesMax(std::string_view name, size_t bytes) {
  Method* method = Find(name);
  if (method == nullptr) return UnknownMethod(name);
  std::lock_guard lock(change_);
  return method->SetRequestBytesMax(bytes);
}

std::vector<MethodStats> Server::stats() const {
  std::vector<MethodStats> stats;
  stats.reserve(methods_.size());
  for (const auto& method : methods_) stats.push_back(method->stats());
  return stats;
}

}  // namespace harena::grpc
