// The methods of one server: what is done to all of them at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harena/base/fork_mutex.h"
#include "harena/mem/background_decay.h"
#include "harena/mem/budget.h"
#include "harena/pb/admin/start_check.h"
#include "harena/pb/call/method.h"
#include "harena/scope/mode.h"
#include "harena/scope/options.h"

namespace harena::pb {

/// Changes are made to all methods or to none: each is looked at first.
/// Thread rule: any thread. Lifetime rule: methods are shared with the requests in flight.
class MethodSet {
 public:
  using Edit = std::function<void(Options&)>;
  /// What an adapter finds wrong with options that are valid by themselves; nullopt when nothing.
  using Check = std::optional<std::string> (*)(const Options&);

  /// `framework` is what reports call it: "grpc", "brpc", "trpc".
  explicit MethodSet(std::string_view framework, Check check = nullptr)
      : framework_(framework), check_(check) {}
  virtual ~MethodSet() = default;
  MethodSet(const MethodSet&) = delete;
  MethodSet& operator=(const MethodSet&) = delete;

  std::string_view framework() const noexcept { return framework_; }

  void Add(std::shared_ptr<Method> method);
  /// Null when there is none of that name.
  std::shared_ptr<Method> Find(std::string_view name) const;
  /// In the order in which they were added. Shared: they outlive the server while they are held.
  std::vector<std::shared_ptr<Method>> methods() const;
  /// "no covered method is named ...; there are: ..."
  std::string UnknownMethod(std::string_view name) const;

  /// Changes options of every method, for requests from now on, or of one by its full name. The
  /// answer says what is wrong; then nothing has changed. ScopePool::Change() says what may change.
  virtual std::optional<std::string> Change(const Edit& edit);
  virtual std::optional<std::string> Change(std::string_view name, const Edit& edit);

  /// The changes that are made most.
  std::optional<std::string> SetMode(Mode mode);
  std::optional<std::string> SetMode(std::string_view name, Mode mode);
  std::optional<std::string> SetRequestBytesMax(size_t bytes);
  std::optional<std::string> SetRequestBytesMax(std::string_view name, size_t bytes);

  /// One entry per method, in the order of methods().
  std::vector<MethodStats> stats() const;

  /// What every adapter's server does as it begins, with its options: the process's limit, the
  /// self-check, the background thread. Called once at most, with all methods that are known then.
  template <typename ServerOptions>
  void Begin(const ServerOptions& options) {
    if (options.process_bytes_max != 0) ProcessBudget().set_bytes_max(options.process_bytes_max);
    if (options.self_check) SelfCheckOnce(options.defaults);
    if (options.decay_interval.count() > 0) {
      StartDecay(options.decay_interval, options.trim_heap_when_idle);
    }
  }

  /// Looks for idle memory every `interval`, in a background thread. When no request came for the
  /// page pool's `decay_after`, all of it goes back, and with `trim_heap` malloc is asked too.
  /// Called once at most.
  void StartDecay(std::chrono::milliseconds interval, bool trim_heap);

 private:
  std::optional<std::string> WhyNot(const Method& method, const Edit& edit) const;
  void Decay(bool trim_heap) noexcept;
  bool HasBecomeIdle(const std::vector<std::shared_ptr<Method>>& methods) noexcept;

  const std::string framework_;
  const Check check_;
  ForkMutex change_;  // held while a change is looked at and made; taken before mutex_
  mutable ForkMutex mutex_;
  std::vector<std::shared_ptr<Method>> methods_;
  // Of the background thread alone.
  uint64_t requests_seen_ = 0;
  uint64_t quiet_since_ms_ = 0;
  bool idle_ = true;  // nothing to give back before the first request
  std::optional<BackgroundDecay> background_decay_;
};

}  // namespace harena::pb
