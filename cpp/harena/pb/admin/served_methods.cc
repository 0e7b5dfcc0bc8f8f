#include "harena/pb/admin/served_methods.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "harena/base/fork_mutex.h"

namespace harena::pb {
namespace {

struct Directory {
  ForkMutex mutex;
  std::vector<ServedMethods*> served;

  // Never destroyed: servers may be static objects.
  static Directory& Get() {
    static auto& directory = *new Directory;
    return directory;
  }
};

struct Made {
  ServedMethods* served;
  std::string method;
  Options before;
};

void TakeBack(const Made& made) {
  // What held a moment ago holds again.
  (void)made.served->Change(made.method, [&](Options& options) { options = made.before; });
}

}  // namespace

Published::Published(ServedMethods& methods) : methods_(methods) {
  Directory& directory = Directory::Get();
  std::lock_guard lock(directory.mutex);
  directory.served.push_back(&methods_);
}

Published::~Published() {
  Directory& directory = Directory::Get();
  std::lock_guard lock(directory.mutex);
  std::erase(directory.served, &methods_);
}

void ForEachServedMethods(const std::function<void(ServedMethods&)>& visit) {
  Directory& directory = Directory::Get();
  std::lock_guard lock(directory.mutex);
  for (ServedMethods* methods : directory.served) visit(*methods);
}

void ForEachServedMethod(
    const std::function<void(const std::shared_ptr<Method>&, const ServedMethods&)>& visit) {
  ForEachServedMethods([&](const ServedMethods& served) {
    for (const auto& method : served.methods()) visit(method, served);
  });
}

void ForEachServedPool(const std::function<void(PagePool&)>& visit) {
  std::set<PagePool*> seen = {&PagePool::Default()};
  ForEachServedMethod([&](const auto& method, const ServedMethods&) {
    PagePool& pool = method->scopes().options().pool();
    if (seen.insert(&pool).second) visit(pool);
  });
  visit(PagePool::Default());
}

std::optional<RefusedChange> ChangeAll(const std::vector<MethodChange>& changes) {
  for (size_t i = 0; i < changes.size(); ++i) {
    const Method& method = *changes[i].method;
    Options after = method.scopes().options();
    changes[i].edit(after);
    if (const auto reason = method.scopes().WhyNot(after)) {
      return RefusedChange{.index = i, .reason = method.name() + ": " + *reason};
    }
  }
  std::vector<Made> made;
  std::optional<RefusedChange> refused;
  // In one visit, so that every server stays while it may have to be taken back.
  ForEachServedMethods([&](ServedMethods& served) {
    const auto methods = served.methods();
    for (size_t i = 0; i < changes.size() && !refused; ++i) {
      const auto& [method, edit] = changes[i];
      if (std::find(methods.begin(), methods.end(), method) == methods.end()) continue;
      Made now{&served, method->name(), method->scopes().options()};
      if (auto reason = served.Change(method->name(), edit)) {
        refused = {.index = i, .reason = std::move(*reason)};
        std::for_each(made.rbegin(), made.rend(), TakeBack);
      } else {
        made.push_back(std::move(now));
      }
    }
  });
  return refused;
}

}  // namespace harena::pb
