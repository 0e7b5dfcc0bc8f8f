// Makes Scope::CreateMessage<T>() know protobuf messages.
#pragma once

#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/message_arena.h"
#include "harena/pb/layout/names.h"
#include "harena/scope/scope.h"

namespace harena {

/// `scope.CreateMessage<Feed>()`: a Feed on the scope's protobuf arena.
/// Lifetime rule: ends with the scope; never deleted by the caller. Throws BudgetExceeded.
template <pb::ProtobufMessage T>
struct MessageTraits<T> {
  static T* Create(Scope& scope) {
    google::protobuf::Arena& arena = pb::MessageArena::Of(scope).arena();
    pb::BudgetFrame frame(scope.budget());
    return pb::CreateOn<T>(arena);
  }
};

}  // namespace harena
