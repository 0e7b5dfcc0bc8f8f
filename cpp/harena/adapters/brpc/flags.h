// The process's gflags, which operators see and change on brpc's /flags page.
#pragma once

#include "harena/adapters/brpc/factory_options.h"

namespace harena::brpc {

class MessageFactory;

/// A flag that is not set (empty, or 0) leaves what the program chose. docs/brpc.md lists them.
/// Thread rule: any thread.
class Flags {
 public:
  /// Puts the flags that are set over `options`.
  static void ApplyTo(FactoryOptions& options);
  /// From now on `factory` gets each change. A change that it refuses is refused on /flags.
  /// Lifetime rule: Unfollow() it before it ends.
  static void Follow(MessageFactory& factory);
  static void Unfollow(MessageFactory& factory);
};

}  // namespace harena::brpc
