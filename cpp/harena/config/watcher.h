// A file of settings that is kept in force.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harena/base/fork_mutex.h"
#include "harena/config/applier.h"
#include "harena/config/config.h"
#include "harena/config/folder_watch.h"

namespace harena::config {

/// How a file is watched.
struct WatcherOptions {
  /// Laid over the file each time it is read: FromEnvironment(), then flags.
  std::vector<Override> overrides;
  /// How often the file is read where the system tells nothing of changes, as on network file
  /// systems.
  std::chrono::milliseconds poll_every{10'000};
};

/// Reads a file, applies it to all that is served, and does so again whenever the file changes:
/// written in place, replaced, or behind links that are switched as Kubernetes does. A file with
/// anything wrong changes nothing, and the log says where and why. Methods that are served later
/// get their settings within a second; to have them from the first request, and to have those that
/// cannot change later, make the server with `config().OptionsFor()`. Thread rule: any thread; it
/// has one of its own. Lifetime rule: the settings stay in force after its end. It may end before
/// the servers or after.
class Watcher {
 public:
  /// Null when there is anything wrong with the file as it is now; the problems say what.
  static std::unique_ptr<Watcher> Start(const std::string& path, WatcherOptions options,
                                        Problems& problems);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// The settings in force.
  Config config() const;
  /// Why the file that is there now is not in force; empty when it is.
  Problems problems() const;
  /// How often the file was applied, the first time included.
  uint64_t reloads() const;
  /// Applies the settings to methods that are served since, without waiting.
  Problems ApplyToNew() { return applier_.ApplyToNew(); }

 private:
  Watcher(std::string path, WatcherOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  void Run();
  void Follow();
  void LookForNew();
  bool Reload();
  void Refuse(const Problems& problems);

  const std::string path_;
  const WatcherOptions options_;
  Applier applier_;
  FolderWatch folders_;
  std::optional<std::string> text_;  // what was looked at last; the thread's own after Start()

  mutable ForkMutex mutex_;
  Config config_;
  Problems problems_;
  uint64_t reloads_ = 0;

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace harena::config
