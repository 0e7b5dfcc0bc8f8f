// Message instances that are kept from request to request: mode `reuse`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <google/protobuf/message_lite.h>

#include "harena/scope/options.h"
#include "harena/scope/scope.h"

namespace harena::pb {

/// What the kept instances of one method did. Counts since the start.
struct MessageKeeperStats {
  uint64_t instances_built = 0;    ///< Made anew, because none that fits was idle.
  uint64_t instances_dropped = 0;  ///< Not kept: grown too large, too many idle, idle too long, or
                                   ///< its request was refused memory, or its scope was sampled.
  size_t instances_idle = 0;       ///< Kept now.
  size_t bytes_idle = 0;           ///< Held by those.
};

/// Keeps pairs of request and response of one method. An instance that has grown beyond what the
/// method's fresh instances need is dropped, never one that is merely old.
///
/// Thread rule: any thread.
/// Lifetime rule: scopes that have taken instances may outlive it. The prototypes must outlive both
///   (generated messages' default instances live for ever).
class MessageKeeper {
 public:
  struct Pair {
    google::protobuf::MessageLite* request;
    google::protobuf::MessageLite* response;
  };

  MessageKeeper(const google::protobuf::MessageLite& request_prototype,
                const google::protobuf::MessageLite& response_prototype, const Options& options);
  ~MessageKeeper();
  MessageKeeper(const MessageKeeper&) = delete;
  MessageKeeper& operator=(const MessageKeeper&) = delete;

  /// Two empty messages for one request. They go back when `scope` ends, detached or not, and count
  /// against its budget with what they hold. Throws BudgetExceeded.
  Pair Take(Scope& scope);
  [[deprecated("it is called Take() now")]] Pair Borrow(Scope& scope) { return Take(scope); }

  /// Drops instances that were not taken for the page pool's `decay_after`. Returns how many.
  size_t Decay() noexcept;
  /// Drops every idle instance. Returns how many.
  size_t Trim() noexcept;

  MessageKeeperStats stats() const;

 private:
  struct State;
  struct Instance;
  struct Kept;

  std::shared_ptr<State> state_;
};

}  // namespace harena::pb
