#include "harena/pb/admin/served_methods.h"

#include <algorithm>
#include <mutex>
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

std::optional<std::string> ServedMethods::SetMode(Mode mode) {
  return Change([=](Options& options) { options.mode = mode; });
}

std::optional<std::string> ServedMethods::SetMode(std::string_view name, Mode mode) {
  return Change(name, [=](Options& options) { options.mode = mode; });
}

std::optional<std::string> ServedMethods::SetRequestBytesMax(size_t bytes) {
  return Change([=](Options& options) { options.request_bytes_max = bytes; });
}

std::optional<std::string> ServedMethods::SetRequestBytesMax(std::string_view name, size_t bytes) {
  return Change(name, [=](Options& options) { options.request_bytes_max = bytes; });
}

std::vector<MethodStats> ServedMethods::stats() const {
  std::vector<MethodStats> stats;
  for (const auto& method : methods()) stats.push_back(method->stats());
  return stats;
}

Published::Published(ServedMethods& methods) : methods_(methods) {
  Directory& directory = Directory::Get();
  std::lock_guard lock(directory.mutex);
  directory.served.push_back(&methods_);
}

Published::~Published() {
  Directory& directory = Directory::Get();
  std::lock_guard lock(directory.mutex);
  directory.served.erase(std::find(directory.served.begin(), directory.served.end(), &methods_));
}

void ForEachServedMethods(const std::function<void(ServedMethods&)>& visit) {
  Directory& directory = Directory::Get();
  std::lock_guard lock(directory.mutex);
  for (ServedMethods* methods : directory.served) visit(*methods);
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
