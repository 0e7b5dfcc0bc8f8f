// must-not-compile: (could not convert|no viable conversion).*shared_ptr
//
// Detach() is how memory outlives its scope; a shared_ptr would delete the message by itself.
#include <memory>

#include <google/protobuf/timestamp.pb.h>

#include "harena/pb/arena/message.h"

using google::protobuf::Timestamp;

#ifdef HARENA_MUST_NOT_COMPILE
std::shared_ptr<Timestamp> MakeAMessage(harena::Scope& scope) {
#else
Timestamp* MakeAMessage(harena::Scope& scope) {
#endif
  return scope.CreateMessage<Timestamp>();
}
