// What a process serves on scopes, whatever its frameworks: for those who report on it or change
// its settings while it runs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harena/mem/page_pool.h"
#include "harena/pb/admin/method_set.h"
#include "harena/pb/call/method.h"

namespace harena::pb {

using ServedMethods = MethodSet;

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

/// Visits each of these methods, and whose it is, likewise.
void ForEachServedMethod(
    const std::function<void(const std::shared_ptr<Method>&, const ServedMethods&)>& visit);

/// Visits the page pools that these methods use, and the process's default pool at the end, each
/// once, likewise: so they stay meanwhile.
void ForEachServedPool(const std::function<void(PagePool&)>& visit);

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
