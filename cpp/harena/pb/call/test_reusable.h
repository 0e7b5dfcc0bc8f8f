// For tests of what Clear() keeps.
#pragma once

#include <google/protobuf/arena.h>

#include "harena/pb/layout/names.h"

namespace harena::pb {

/// Whether protobuf drops a sub-message without presence when its message is cleared. What
/// protobuf does decides, not its version: 3.21 drops such a field, newer ones may keep it.
template <typename Message, typename SubMessage>
bool DropsInClear(SubMessage* (Message::*mutable_field)()) {
  google::protobuf::Arena arena;
  auto* const message = CreateOn<Message>(arena);
  const SubMessage* const before = (message->*mutable_field)();
  message->Clear();
  return (message->*mutable_field)() != before;
}

}  // namespace harena::pb
