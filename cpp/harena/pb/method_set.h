// The methods of one server: what is done to all of them at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harena/mem/background_decay.h"
#include "harena/pb/method.h"
#include "harena/scope/options.h"

namespace harena::pb {

/// Changes are made to all methods or to none: each is looked at first.
/// Thread rule: any thread. Lifetime rule: methods are shared with the requests in flight.
class MethodSet {
 public:
  /// What an adapter finds wrong with options that are valid by themselves; nullopt when nothing.
  using Check = std::optional<std::string> (*)(const Options&);

  explicit MethodSet(Check check = nullptr) noexcept : check_(check) {}
  MethodSet(const MethodSet&) = delete;
  MethodSet& operator=(const MethodSet&) = delete;

  void Add(std::shared_ptr<Method> method);
  /// Null when there is none of that name.
  std::shared_ptr<Method> Find(std::string_view name) const;
  /// In the order in which they were added.
  std::vector<std::shared_ptr<Method>> methods() const;
  /// "no covered method is named ...; there are: ..."
  std::string UnknownMethod(std::string_view name) const;

  /// Changes the mode of every method, or of one, for requests from now on. The answer says what is
  /// wrong; then nothing has changed.
  std::optional<std::string> SetMode(Mode mode);
  std::optional<std::string> SetMode(std::string_view name, Mode mode);
  /// Changes request_bytes_max likewise.
  std::optional<std::string> SetRequestBytesMax(size_t bytes);
  std::optional<std::string> SetRequestBytesMax(std::string_view name, size_t bytes);

  std::vector<MethodStats> stats() const;

  /// Looks for idle memory every `interval`, in a background thread. When no request came for the
  /// page pool's `decay_after`, all of it goes back, and with `trim_heap` malloc is asked too.
  /// Called once at most.
  void StartDecay(std::chrono::milliseconds interval, bool trim_heap);

 private:
  template <typename Change>
  std::optional<std::string> WhyNot(const Method& method, Change change) const;
  template <typename Change, typename Make>
  std::optional<std::string> ChangeAll(Change change, Make make);
  template <typename Change, typename Make>
  std::optional<std::string> ChangeOne(std::string_view name, Change change, Make make);
  void Decay(bool trim_heap) noexcept;
  bool HasBecomeIdle(const std::vector<std::shared_ptr<Method>>& methods) noexcept;

  const Check check_;
  std::mutex change_;  // held while a change is looked at and made; taken before mutex_
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Method>> methods_;
  // Of the background thread alone.
  uint64_t requests_seen_ = 0;
  uint64_t quiet_since_ms_ = 0;
  bool idle_ = true;  // nothing to give back before the first request
  std::optional<BackgroundDecay> background_decay_;
};

}  // namespace harena::pb
