// Request, response and scope of one unary call, as gRPC's MessageHolder.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <grpcpp/support/message_allocator.h>

#include "harena/adapters/grpc/method.h"
#include "harena/adapters/grpc/request_slot.h"
#include "harena/adapters/grpc/scope_of.h"
#include "harena/pb/message.h"

namespace harena::grpc {

/// Lives on its own scope, so that a call costs no allocation for it; on the heap only when there
/// was no memory for a scope, to carry the refusal.
/// Thread rule: as gRPC calls it. Lifetime rule: until gRPC calls Release(), which is after the
/// response was handed to the transport and the reactor's OnDone() ran; never at Finish().
template <typename Request, typename Response>
class UnaryMessages final : public ::grpc::MessageHolder<RequestSlot<Request>, Response>,
                            public RequestState {
 public:
  static UnaryMessages* Make(std::shared_ptr<Method> method) {
    Refusal refusal;
    std::optional<Scope> scope = method->scopes().TryAcquire(&refusal);
    void* place =
        scope ? scope->arena().TryAllocate(sizeof(UnaryMessages), alignof(UnaryMessages), &refusal)
              : nullptr;
    if (place == nullptr) return new UnaryMessages(std::move(method), refusal);
    return ::new (place) UnaryMessages(std::move(method), std::move(*scope));
  }

  Scope* scope() noexcept override { return scope_ ? &*scope_ : nullptr; }

  void Release() override {
    slot_.TakeBack();
    if (!scope_) {
      delete this;
      return;
    }
    // The scope holds the memory this object stands in, so it leaves first and ends last.
    const Scope scope = std::move(*scope_);
    this->~UnaryMessages();
  }

 private:
  UnaryMessages(std::shared_ptr<Method> method, const Refusal& refusal)
      : method_(std::move(method)) {
    UseSpare(refusal);
  }

  UnaryMessages(std::shared_ptr<Method> method, Scope scope)
      : method_(std::move(method)), scope_(std::move(scope)) {
    try {
      // The scope's own mode: another thread may be changing the method's.
      UseMode(method_->Serve(scope_->mode()));
    } catch (const BudgetExceeded& exceeded) {
      UseSpare(exceeded.refusal());
    }
  }

  ~UnaryMessages() = default;

  void UseMode(Mode mode) {
    switch (mode) {
      case Mode::kHeap:
        // The objects stand on the scope and their parts on the heap, so that Detach() keeps them
        // in this mode too.
        return Use(scope_->Create<Request>(), scope_->Create<Response>());
      case Mode::kCodec:
        slot_.frozen = true;
        [[fallthrough]];
      case Mode::kArena:
      case Mode::kPages:
        slot_.parse_onto_scope = true;
        return Use(scope_->CreateMessage<Request>(), scope_->CreateMessage<Response>());
      case Mode::kReuse: {
        const pb::MessageKeeper::Pair pair = method_->keeper().Borrow(*scope_);
        slot_.parse_onto_scope = true;
        return Use(static_cast<Request*>(pair.request), static_cast<Response*>(pair.response));
      }
    }
  }

  // Nobody fills these, but gRPC and its interceptors want objects all the same.
  void UseSpare(const Refusal& refusal) {
    slot_.refusal = refusal;
    spare_request_ = std::make_unique<Request>();
    spare_response_ = std::make_unique<Response>();
    Use(spare_request_.get(), spare_response_.get());
  }

  void Use(Request* request, Response* response) {
    slot_.message = request;
    slot_.scope = scope();
    slot_.method = method_.get();
    this->set_request(&slot_);
    this->set_response(response);
  }

  const std::shared_ptr<Method> method_;
  std::optional<Scope> scope_;
  RequestSlot<Request> slot_;
  std::unique_ptr<Request> spare_request_;
  std::unique_ptr<Response> spare_response_;
};

}  // namespace harena::grpc
