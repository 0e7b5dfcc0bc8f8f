#include "harena/config/folder_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "harena/base/check.h"

namespace harena::config {

FolderWatch::FolderWatch()
    : notifier_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      waker_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  HARENA_CHECK(waker_ >= 0,
               "no file descriptor is left for the watcher of settings; raise ulimit -n");
}

FolderWatch::~FolderWatch() {
  if (notifier_ >= 0) close(notifier_);
  close(waker_);
}

void FolderWatch::Follow(const std::set<std::string>& folders) {
  if (notifier_ < 0) return;
  std::set<int> followed;
  for (const std::string& folder : folders) {
    // The same number as before for a folder that is watched already.
    const int watch = inotify_add_watch(notifier_, folder.c_str(),
                                        IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE |
                                            IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF);
    if (watch >= 0) followed.insert(watch);
  }
  for (const int watch : watches_) {
    if (!followed.contains(watch)) inotify_rm_watch(notifier_, watch);
  }
  watches_ = std::move(followed);
}

bool FolderWatch::Wait(std::chrono::milliseconds time) {
  std::array<pollfd, 2> waiting = {pollfd{waker_, POLLIN, 0}, pollfd{notifier_, POLLIN, 0}};
  if (poll(waiting.data(), waiting.size(), static_cast<int>(time.count())) <= 0) return false;
  if ((waiting[0].revents & POLLIN) != 0) {
    uint64_t count = 0;
    // It was readable, and nobody else reads it.
    static_cast<void>(!read(waker_, &count, sizeof(count)));
  }
  if ((waiting[1].revents & POLLIN) == 0) return false;
  alignas(inotify_event) std::array<char, 4096> events;
  while (read(notifier_, events.data(), events.size()) > 0) {
    // Which file it was does not matter: the file is read, and compared.
  }
  return true;
}

void FolderWatch::Wake() noexcept {
  const uint64_t one = 1;
  // Fails only when it would wake already.
  static_cast<void>(!write(waker_, &one, sizeof(one)));
}

}  // namespace harena::config
