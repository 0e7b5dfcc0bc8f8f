// What a process serves on scopes, whatever its frameworks: for those who report on it or change
// its settings while it runs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harena/pb/call/method.h"
#include "harena/scope/options.h"

namespace harena::pb {

/// The methods of one server.
/// Thread rule: any thread.
class ServedMethods {
 public:
  using Edit = std::function<void(Options&)>;

  virtual ~ServedMethods() = default;

  /// What reports call it: "grpc", "brpc", "trpc".
  virtual std::string_view framework() const noexcept = 0;
  /// In the order in which they were added. Shared: they outlive the server while they are held.
  virtual std::vector<std::shared_ptr<Method>> methods() const = 0;
  /// Changes options of every method, for requests from now on, or of one by its full name. The
  /// answer says what is wrong; then nothing has changed. ScopePool::Change() says what may change.
  virtual std::optional<std::string> Change(const Edit& edit) = 0;
  virtual std::optional<std::string> Change(std::string_view name, const Edit& edit) = 0;

  /// The changes that are made most.
  std::optional<std::string> SetMode(Mode mode);
  std::optional<std::string> SetMode(std::string_view name, Mode mode);
  std::optional<std::string> SetRequestBytesMax(size_t bytes);
  std::optional<std::string> SetRequestBytesMax(std::string_view name, size_t bytes);

  /// One entry per method, in the order of methods().
  std::vector<MethodStats> stats() const;
};

/// Makes a server's methods one of those that ForEachServedMethods() visits, from its making to its
/// end, which waits for the visits that are under way.
class Published {
 public:
  /// Lifetime rule: `methods` must outlive it.
  explicit Published(ServedMethods& methods);
  ~Published();
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

 private:
  ServedMethods& methods_;
};

/// Visits the methods of every server of the process, oldest first. No server begins or ends
/// meanwhile, so `visit` must not make or end one.
void ForEachServedMethods(const std::function<void(ServedMethods&)>& visit);

/// What one served method is to get.
struct MethodChange {
  std::shared_ptr<Method> method;
  ServedMethods::Edit edit;
};

/// Which of several changes cannot be made, and why.
struct RefusedChange {
  size_t index = 0;
  std::string reason = {};
};

/// Makes changes of any servers' methods, for requests from now on: all of them, or none and which
/// one is wrong. Each is looked at first; where an adapter refuses one all the same, what was made
/// is taken back. Methods that nothing serves any more are left out. Thread rule: any thread, but
/// not from a visit of ForEachServedMethods().
std::optional<RefusedChange> ChangeAll(const std::vector<MethodChange>& changes);

}  // namespace harena::pb
