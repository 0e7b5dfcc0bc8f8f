// must-not-compile: cannot convert .harena::Scope.|discards qualifiers|expects an lvalue
//
// The scope is gone at the end of the line, and the message with it.
#include <google/protobuf/timestamp.pb.h>

#include "harena/pb/arena/message.h"

void MakeAMessage() {
  harena::Scope scope;
  google::protobuf::Timestamp* message = scope.CreateMessage<google::protobuf::Timestamp>();
#ifdef HARENA_MUST_NOT_COMPILE
  message = harena::Scope().CreateMessage<google::protobuf::Timestamp>();
#endif
  static_cast<void>(message);
}
