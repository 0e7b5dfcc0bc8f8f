#include "harena/pb/admin/change_listener.h"

#include <mutex>
#include <utility>
#include <vector>

#include "harena/base/fork_mutex.h"

namespace harena::pb {
namespace {

// Held by a change from before to after, so that what a listener sees in between is of one alone.
struct Listeners {
  ForkMutex mutex;
  std::vector<const std::function<void(const char* who)>*> all;

  // Never destroyed: listeners may be static objects.
  static Listeners& Get() {
    static auto& listeners = *new Listeners;
    return listeners;
  }
};

}  // namespace

void ChangeAs(const char* who, const std::function<void()>& change) {
  Listeners& listeners = Listeners::Get();
  std::lock_guard lock(listeners.mutex);
  for (const auto* listen : listeners.all) (*listen)(nullptr);
  change();
  for (const auto* listen : listeners.all) (*listen)(who);
}

ChangeListener::ChangeListener(std::function<void(const char* who)> listen)
    : listen_(std::move(listen)) {
  Listeners& listeners = Listeners::Get();
  std::lock_guard lock(listeners.mutex);
  listeners.all.push_back(&listen_);
}

ChangeListener::~ChangeListener() {
  Listeners& listeners = Listeners::Get();
  std::lock_guard lock(listeners.mutex);
  std::erase(listeners.all, &listen_);
}

}  // namespace harena::pb
