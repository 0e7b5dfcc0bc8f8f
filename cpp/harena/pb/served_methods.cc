#include "harena/pb/served_methods.h"

#include <algorithm>
#include <mutex>

namespace harena::pb {
namespace {

struct Directory {
  std::mutex mutex;
  std::vector<ServedMethods*> served;

  // Never destroyed: servers may be static objects.
  static Directory& Get() {
    static auto& directory = *new Directory;
    return directory;
  }
};

}  // namespace

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

}  // namespace harena::pb
