// must-not-compile: CreateMessage<T> needs to know T: include .{1,2}harena.pb.arena.message.h
//
// "harena/scope/scope.h" alone knows no message library.
#include <google/protobuf/timestamp.pb.h>

#include "harena/scope/scope.h"

google::protobuf::Timestamp* MakeAMessage(harena::Scope& scope) {
#ifdef HARENA_MUST_NOT_COMPILE
  return scope.CreateMessage<google::protobuf::Timestamp>();
#else
  return scope.Create<google::protobuf::Timestamp>();
#endif
}
