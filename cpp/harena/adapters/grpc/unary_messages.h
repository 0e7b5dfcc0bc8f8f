// Request, response and scope of one unary call, as gRPC's MessageHolder.
#pragma once

#include <memory>
#include <utility>

#include <grpcpp/support/message_allocator.h>

#include "harena/adapters/grpc/method.h"
#include "harena/adapters/grpc/request_slot.h"
#include "harena/adapters/grpc/scope_of.h"
#include "harena/pb/call/call_messages.h"

namespace harena::grpc {

/// Lives on its own scope, so that a call costs no allocation for it.
/// Thread rule: as gRPC calls it. Lifetime rule: until gRPC calls Release(), which is after the
/// response was handed to the transport and the reactor's OnDone() ran; never at Finish().
template <typename Request, typename Response>
class UnaryMessages final : public ::grpc::MessageHolder<RequestSlot<Request>, Response>,
                            public RequestState {
 public:
  /// For CallMessages::TryMakeOnScope().
  UnaryMessages(std::shared_ptr<Method> method, pb::CallMessages messages) noexcept
      : method_(std::move(method)), messages_(std::move(messages)) {
    slot_.messages = &messages_;
    this->set_request(&slot_);
    this->set_response(static_cast<Response*>(&messages_.response()));
  }

  Scope* scope() noexcept override { return &messages_.scope(); }

  void Release() override {
    slot_.TakeBack();
    pb::CallMessages::EndOnOwnScope(*this, messages_);
  }

 private:
  const std::shared_ptr<Method> method_;
  pb::CallMessages messages_;
  RequestSlot<Request> slot_;
};

/// A call that there was no memory for: no scope and no messages, only the reason. gRPC hands them
/// on without looking at them. A shared one is for any number of calls at once, when there was no
/// memory for one of their own either.
/// Thread rule: any thread. Lifetime rule: a shared one must outlive the calls; another one, made
/// with `new`, ends when gRPC calls Release().
template <typename Request, typename Response>
class RefusedMessages final : public ::grpc::MessageHolder<RequestSlot<Request>, Response> {
 public:
  RefusedMessages(const Refusal& refusal, bool shared) noexcept : shared_(shared) {
    slot_.refusal = refusal;
    this->set_request(&slot_);
  }
  void Release() override {
    slot_.TakeBack();
    if (!shared_) delete this;
  }

 private:
  const bool shared_;
  RequestSlot<Request> slot_;
};

}  // namespace harena::grpc
