// Settings applied to what the process serves.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "harena/base/fork_mutex.h"
#include "harena/config/config.h"
#include "harena/mem/page_pool_options.h"
#include "harena/pb/admin/served_methods.h"
#include "harena/pb/call/method.h"

namespace harena::config {

/// Applies settings to every method of every server, the process's budget and the default page
/// pool: to all or to none. A setting that the next settings do not have any more becomes again
/// what the code had; one that neither has is left alone, whoever changes it. Thread rule: any
/// thread, but not from a server's making or end.
class Applier {
 public:
  Applier() = default;
  Applier(const Applier&) = delete;
  Applier& operator=(const Applier&) = delete;

  /// Makes the settings those in force. What is wrong with them for which method; then nothing has
  /// changed.
  Problems Apply(const Config& config);
  /// Applies the settings in force to methods that are served since. Each that cannot have them
  /// stays as its code says; the problems name it, once.
  Problems ApplyToNew();
  /// What is likely a mistake in the settings and no error: methods that nothing serves yet.
  static Problems Warnings(const Config& config);

 private:
  struct State {
    Options code;  // before there were settings
    Settings applied;
  };
  using States = std::map<std::weak_ptr<pb::Method>, State, std::owner_less<>>;

  // What one method is about to get.
  struct Change {
    std::shared_ptr<pb::Method> method;
    Settings wanted;
    pb::ServedMethods::Edit edit;
  };

  std::vector<Change> Plan(const Config& config, bool only_new, Problems& problems);
  Problems Make(const std::vector<Change>& changes);
  void ApplyProcess(const Config& config);

  ForkMutex mutex_;
  std::optional<Config> current_;
  States states_;
  // What the code had, for what is applied of it.
  std::optional<size_t> process_bytes_max_;
  std::optional<PagePoolRetention> retention_;
};

}  // namespace harena::config
