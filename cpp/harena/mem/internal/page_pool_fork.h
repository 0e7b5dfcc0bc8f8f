// What page pools do when the process forks.
#pragma once

#include "harena/mem/page_pool.h"

namespace harena {

/// Holds everything still while the process forks: the child has only the forking thread, so a lock
/// that another one holds would be held for ever, and what it guards could be half changed.
/// Thread rule: fork() calls the handlers, on the thread that forks.
struct PagePool::Fork {
  /// Has fork() call the handlers from now on. Without memory for that, fork() is as it was
  /// without us. Thread rule: any thread, any number of times.
  static void Install() noexcept;

 private:
  template <typename Function>
  static void ForEachPool(Function function);
  static void Before() noexcept;
  static void After() noexcept;
  static void AfterInChild() noexcept;
};

}  // namespace harena
