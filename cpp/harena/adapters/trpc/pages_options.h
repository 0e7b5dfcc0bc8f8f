#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <google/protobuf/arena.h>

namespace harena {
class PagePool;
}

namespace harena::trpc {

/// What tRPC's arenas are made of. This header is C++17, as tRPC's own are.
struct PagesOptions {
  /// Where blocks come from; null for PagePool::Default().
  /// Lifetime rule: must live as long as the process: tRPC makes arenas until its end.
  PagePool* page_pool = nullptr;
  /// What was given to trpc::SetGlobalArenaOptions() so far. Block sizes that are set must be sizes
  /// of the pool; those that are not become its page. Anything else that is set is refused.
  google::protobuf::ArenaOptions arena = {};
  /// How often idle memory is looked for, so that a server without traffic gives it back too. Zero
  /// turns the background thread off; the pool then decays only while it is used.
  std::chrono::milliseconds decay_interval{1000};
  /// Whether the pool's numbers are shown among tRPC's variables, below /harena.
  bool expose_vars = true;

  /// What is wrong with these options and how to put it right; nullopt when nothing is.
  std::optional<std::string> Validate() const;

  PagePool& pool() const noexcept;
  /// What tRPC is given. REQUIRES: Validate() finds nothing.
  google::protobuf::ArenaOptions ForTrpc() const;
};

}  // namespace harena::trpc
