// Request, response and scope of one call, as brpc's RpcPBMessages.
#pragma once

#include <memory>
#include <optional>

#include <brpc/rpc_pb_message_factory.h>
#include <google/protobuf/message.h>

#include "harena/adapters/brpc/live_requests.h"
#include "harena/pb/call/call_messages.h"

namespace harena::brpc {

/// Lives on its own scope, so that a call costs no allocation for it; on the heap when there was no
/// memory for a scope, or the method is none of Harena's.
/// Thread rule: as brpc calls it: made, filled and ended one after the other, each on any thread.
/// Lifetime rule: until End(), which brpc calls inside `done`, after the response was serialized.
class RequestMessages final : public ::brpc::RpcPBMessages {
 public:
  /// The prototypes are the method's.
  static RequestMessages* Make(pb::Method& method,
                               const google::protobuf::Message& request_prototype,
                               const google::protobuf::Message& response_prototype);
  /// Outside of any method: messages as brpc makes them by itself.
  static RequestMessages* MakePlain(const google::protobuf::Message& request_prototype,
                                    const google::protobuf::Message& response_prototype);

  google::protobuf::Message* Request() override { return request_; }
  google::protobuf::Message* Response() override { return response_; }

  void End() noexcept;

 private:
  friend class pb::CallMessages;

  RequestMessages(pb::Method& method, pb::CallMessages messages) noexcept;
  RequestMessages(std::unique_ptr<google::protobuf::Message> request,
                  std::unique_ptr<google::protobuf::Message> response) noexcept;
  ~RequestMessages() override = default;

  void CountFailedParse() noexcept;

  pb::Method* const method_;  // null without a scope
  std::optional<pb::CallMessages> messages_;
  google::protobuf::Message* const request_;
  google::protobuf::Message* const response_;
  LiveRequest live_;  // in the table when there is a scope
  std::unique_ptr<google::protobuf::Message> own_request_;
  std::unique_ptr<google::protobuf::Message> own_response_;
};

}  // namespace harena::brpc
