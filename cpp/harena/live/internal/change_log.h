// What changed when, and taking it back.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "harena/base/fork_mutex.h"
#include "harena/live/internal/settings.h"
#include "harena/pb/admin/change_listener.h"

namespace harena::live::internal {

/// "2026-01-31T23:59:59.123Z".
std::string Rfc3339(std::chrono::system_clock::time_point at);

/// The list of changes. It also knows each setting's last value, to notice when others change one.
/// Thread rule: any thread.
class ChangeLog {
 public:
  /// Changes that are remembered.
  static constexpr size_t kChangesMax = 200;
  /// The changes made, or what is wrong.
  struct Outcome {
    Json changes = Json::array();
    Problem problem = {};
  };

  ChangeLog();

  Json All() const;
  /// Adds what others changed since the last call.
  void Notice();
  /// Changes settings and notes that.
  Outcome Set(const Wanted& wanted);
  /// Sets back what a change set, unless it was changed again since.
  Outcome Undo(int64_t id);

 private:
  struct Change {
    int64_t id;
    std::chrono::system_clock::time_point at;
    const char* who;
    Place place;
    Json from, to;
    bool undone;

    Json AsJson() const;
  };

  // Each is called with the mutex held.
  Json NoticeLocked(const char* who);
  Change* Find(int64_t id);

  mutable ForkMutex mutex_;
  std::deque<Change> changes_;
  int64_t next_ = 1;
  std::map<Place, std::vector<Json>> known_;
  const pb::ChangeListener listener_;  // last: it uses the others
};

}  // namespace harena::live::internal
