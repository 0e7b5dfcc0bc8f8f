// A consumer of harena::pb.
#include <google/protobuf/struct.pb.h>

#include "harena/pb/arena/message.h"
#include "harena/scope/scope.h"

int main() {
  harena::Scope scope;
  auto* message = scope.CreateMessage<google::protobuf::Struct>();
  (*message->mutable_fields())["answer"].set_number_value(42);
  return message->GetArena() != nullptr && message->fields().at("answer").number_value() == 42 ? 0
                                                                                               : 1;
}
