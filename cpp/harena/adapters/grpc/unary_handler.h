// Serves one callback-unary method on scopes.
#pragma once

#include <functional>
#include <memory>
#include <new>
#include <utility>

#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/support/message_allocator.h>
#include <grpcpp/support/server_callback.h>

#include "harena/adapters/grpc/method.h"
#include "harena/adapters/grpc/unary_messages.h"

namespace harena::grpc {

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
    // Interceptors are shown no request that was left half way.
    return slot->good() ? slot->message() : nullptr;
  }

 private:
  using Slot = RequestSlot<Request>;

  class Allocator final : public ::grpc::MessageAllocator<Slot, Response> {
   public:
    explicit Allocator(std::shared_ptr<Method> method) : method_(std::move(method)) {}
    ::grpc::MessageHolder<Slot, Response>* AllocateMessages() override {
      method_->CountRequest();
      Refusal refusal;
      if (auto* messages = pb::CallMessages::TryMakeOnScope<UnaryMessages<Request, Response>>(
              *method_, &refusal, method_)) {
        return messages;
      }
      auto* refused =
          new (std::nothrow) RefusedMessages<Request, Response>(refusal, /*shared=*/false);
      return refused != nullptr ? refused : &out_of_memory_;
    }

   private:
    const std::shared_ptr<Method> method_;
    RefusedMessages<Request, Response> out_of_memory_{Refusal(), /*shared=*/true};
  };

  ::grpc::ServerUnaryReactor* Serve(::grpc::CallbackServerContext* context, const Slot& slot,
                                    Response* response) {
    slot.TakeBack();
    ::grpc::ServerUnaryReactor* reactor = Answer(context, slot, response);
    slot.HandOn();
    return reactor;
  }

  // Allocates nothing of its own to say that there is no memory.
  ::grpc::ServerUnaryReactor* Answer(::grpc::CallbackServerContext* context, const Slot& slot,
                                     Response* response) {
    if (slot.refusal) return Finish(*context, Refuse(*method_, *slot.refusal));
    if (slot.malformed) {
      return Finish(*context, RefuseMalformed(*method_, slot.messages->scope(), *slot.message()));
    }
    // The handler's own frames are the user's: it may be unwound by a refusal as by a bad_alloc.
    // gRPC never sees either exception.
    ::grpc::ServerUnaryReactor* reactor = nullptr;
    const auto refusal =
        slot.messages->RunWithinBudget([&] { reactor = call_(context, slot.message(), response); });
    // The handler may have taken the context's reactor.
    return refusal ? &slot.refusing.emplace(Refuse(*method_, *refusal)) : reactor;
  }

  static ::grpc::ServerUnaryReactor* Finish(::grpc::CallbackServerContext& context,
                                            const ::grpc::Status& status) {
    ::grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }

  const std::shared_ptr<Method> method_;
  Allocator allocator_;
  const Call call_;
  ::grpc::internal::CallbackUnaryHandler<Slot, Response> inner_;
};

}  // namespace harena::grpc
