// must-not-compile: (could not convert|no viable conversion).*unique_ptr
//
// Its owner is the scope; another owner would delete it a second time.
#include <memory>

#include <google/protobuf/timestamp.pb.h>

#include "harena/pb/arena/message.h"

using google::protobuf::Timestamp;

#ifdef HARENA_MUST_NOT_COMPILE
std::unique_ptr<Timestamp> MakeAMessage(harena::Scope& scope) {
#else
Timestamp* MakeAMessage(harena::Scope& scope) {
#endif
  return scope.CreateMessage<Timestamp>();
}
