// Serves one callback-unary method on scopes.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/support/message_allocator.h>
#include <grpcpp/support/server_callback.h>

#include "harena/adapters/grpc/method.h"
#include "harena/adapters/grpc/unary_messages.h"
#include "harena/pb/budget_frame.h"

namespace harena::grpc {

/// Answers a call with a status and nothing else.
class RefusingReactor final : public ::grpc::ServerUnaryReactor {
 public:
  explicit RefusingReactor(const ::grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

/// gRPC's own callback-unary handler, around a request slot instead of the bare request. What gRPC
/// and its interceptors see as the request is the message itself.
/// Thread rule: as gRPC calls it. Lifetime rule: owned by the grpc::Service.
template <typename Request, typename Response>
class UnaryHandler final : public ::grpc::internal::MethodHandler {
 public:
  /// The user's handler, found through the service's virtual function.
  using Call = std::function<::grpc::ServerUnaryReactor*(::grpc::CallbackServerContext*,
                                                         const Request*, Response*)>;

  UnaryHandler(std::shared_ptr<Method> method, Call call)
      : method_(method),
        allocator_(std::move(method)),
        call_(std::move(call)),
        inner_([this](::grpc::CallbackServerContext* context, const RequestSlot<Request>* slot,
                      Response* response) { return Serve(context, *slot, response); }) {
    inner_.SetMessageAllocator(&allocator_);
  }

  void RunHandler(const HandlerParameter& parameter) override { inner_.RunHandler(parameter); }

  void* Deserialize(grpc_call* call, grpc_byte_buffer* request, ::grpc::Status* status,
                    void** handler_data) override {
    auto* slot =
        static_cast<RequestSlot<Request>*>(inner_.Deserialize(call, request, status, handler_data));
    return slot == nullptr ? nullptr : slot->message;
  }

 private:
  using Slot = RequestSlot<Request>;

  class Allocator final : public ::grpc::MessageAllocator<Slot, Response> {
   public:
    explicit Allocator(std::shared_ptr<Method> method) : method_(std::move(method)) {}
    ::grpc::MessageHolder<Slot, Response>* AllocateMessages() override {
      method_->CountRequest();
      return UnaryMessages<Request, Response>::Make(method_);
    }

   private:
    const std::shared_ptr<Method> method_;
  };

  ::grpc::ServerUnaryReactor* Serve(::grpc::CallbackServerContext* context, const Slot& slot,
                                    Response* response) {
    slot.TakeBack();
    ::grpc::ServerUnaryReactor* reactor = Answer(context, slot, response);
    slot.HandOn();
    return reactor;
  }

  ::grpc::ServerUnaryReactor* Answer(::grpc::CallbackServerContext* context, const Slot& slot,
                                     Response* response) {
    if (slot.refusal) return new RefusingReactor(Refuse(*method_, *slot.refusal));
    // The handler's own frames are the user's: it may be unwound by a refusal as by a bad_alloc.
    // gRPC never sees the exception.
    try {
      pb::BudgetFrame frame(slot.scope->budget());
      return call_(context, slot.message, response);
    } catch (const BudgetExceeded& exceeded) {
      return new RefusingReactor(Refuse(*method_, exceeded.refusal()));
    }
  }

  const std::shared_ptr<Method> method_;
  Allocator allocator_;
  const Call call_;
  ::grpc::internal::CallbackUnaryHandler<Slot, Response> inner_;
};

}  // namespace harena::grpc
