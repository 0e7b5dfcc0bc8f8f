// What a message says that somebody deletes although it stands on an arena.
#pragma once

#include <google/protobuf/arena.h>

#include "harena/base/check.h"
#include "harena/base/compiler.h"

namespace harena::pb::codec {

/// At the top of a generated destructor, in debug builds. An arena ends its messages without their
/// destructors, so one that runs was called by somebody else: stops the process and names the type.
inline void CheckNotOnArena(const google::protobuf::Arena* arena, const char* type) noexcept {
  if (HARENA_LIKELY(arena == nullptr)) return;
  FailCheck("message", 0, type,
            "a message that stands on an arena (a scope's, a framework's) was deleted; its arena "
            "ends it: drop the `delete` or the unique_ptr, or copy the message to own one");
}

}  // namespace harena::pb::codec
