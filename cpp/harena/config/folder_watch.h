// Whether something happened in some folders.
#pragma once

#include <chrono>
#include <set>
#include <string>

namespace harena::config {

/// Linux's inotify; where there is none left, or the file system tells nothing, nothing ever
/// happens and who asks has to look by himself. Thread rule: one thread, but for Wake().
class FolderWatch {
 public:
  FolderWatch();
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  /// Watches these and no others. One that is not there is left out, until the next call.
  void Follow(const std::set<std::string>& folders);
  /// Returns whether something happened, as soon as it does, or when the time is over or after
  /// Wake().
  bool Wait(std::chrono::milliseconds time);
  /// Ends the wait that is under way, or the next. Thread rule: any thread.
  void Wake() noexcept;

 private:
  int notifier_;  // -1 where there is none
  int waker_;
  std::set<int> watches_;
};

}  // namespace harena::config
