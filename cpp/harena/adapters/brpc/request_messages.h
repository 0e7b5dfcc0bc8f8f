// Request, response and scope of one call, as brpc's RpcPBMessages.
#pragma once

#include <brpc/rpc_pb_message_factory.h>
#include <google/protobuf/message.h>

#include "harena/adapters/brpc/live_requests.h"
#include "harena/pb/call/call_messages.h"

namespace harena::brpc {

/// Lives on its own scope, so that a call costs no allocation for it.
/// Thread rule: as brpc calls it: made, filled and ended one after the other, each on any thread.
/// Lifetime rule: until End(), which brpc calls inside `done`, after the response was serialized.
class RequestMessages final : public ::brpc::RpcPBMessages {
 public:
  /// Null when there was no memory for a scope, which is counted.
  static RequestMessages* TryMake(pb::Method& method);

  google::protobuf::Message* Request() override {
    return static_cast<google::protobuf::Message*>(&messages_.request());
  }
  google::protobuf::Message* Response() override {
    return static_cast<google::protobuf::Message*>(&messages_.response());
  }

  void End() noexcept;

 private:
  friend class pb::CallMessages;

  RequestMessages(pb::Method& method, pb::CallMessages messages) noexcept;
  ~RequestMessages() override = default;

  void CountFailedParse() noexcept;

  pb::Method& method_;
  pb::CallMessages messages_;
  LiveRequest live_;
};

}  // namespace harena::brpc
