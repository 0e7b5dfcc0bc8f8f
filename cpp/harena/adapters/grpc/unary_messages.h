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

/// Lives on its own scope, so that a call costs no allocation for it.
/// Thread rule: as gRPC calls it. Lifetime rule: until gRPC calls Release(), which is after the
/// response was handed to the transport and the reactor's OnDone() ran; never at Finish().
template <typename Request, typename Response>
class UnaryMessages final : public ::grpc::MessageHolder<RequestSlot<Request>, Response>,
                            public RequestState {
 public:
  /// Null when there is no memory for a scope; then `refusal` says why.
  static UnaryMessages* TryMake(const std::shared_ptr<Method>& method, Refusal& refusal) noexcept {
    try {
      std::optional<Scope> scope = method->scopes().TryAcquire(&refusal);
      if (!scope) return nullptr;
      void* const place =
          scope->arena().TryAllocate(sizeof(UnaryMessages), alignof(UnaryMessages), &refusal);
      return place == nullptr ? nullptr : ::new (place) UnaryMessages(method, std::move(*scope));
    } catch (const std::bad_alloc& exceeded) {
      refusal = RefusalOf(exceeded);
      return nullptr;
    }
  }

  Scope* scope() noexcept override { return &scope_; }

  void Release() override {
    slot_.TakeBack();
    // The scope holds the memory this object stands in, so it leaves first and ends last.
    const Scope scope = std::move(scope_);
    this->~UnaryMessages();
  }

 private:
  UnaryMessages(std::shared_ptr<Method> method, Scope scope) noexcept
      : method_(std::move(method)), scope_(std::move(scope)) {
    this->set_request(&slot_);
    slot_.scope = &scope_;
    try {
      // The scope's own mode: another thread may be changing the method's.
      UseMode(method_->Serve(scope_.mode()));
    } catch (const std::bad_alloc& exceeded) {
      slot_.refusal = RefusalOf(exceeded);
    }
  }

  ~UnaryMessages() = default;

  void UseMode(Mode mode) {
    switch (mode) {
      case Mode::kHeap:
        // The objects stand on the scope and their parts on the heap, so that Detach() keeps them
        // in this mode too.
        return Use(scope_.Create<Request>(), scope_.Create<Response>());
      case Mode::kCodec:
        slot_.frozen = true;
        [[fallthrough]];
      case Mode::kArena:
      case Mode::kPages:
        slot_.parse_onto_scope = true;
        return Use(scope_.CreateMessage<Request>(), scope_.CreateMessage<Response>());
      case Mode::kReuse: {
        const pb::MessageKeeper::Pair pair = method_->keeper().Borrow(scope_);
        slot_.parse_onto_scope = true;
        return Use(static_cast<Request*>(pair.request), static_cast<Response*>(pair.response));
      }
    }
  }

  void Use(Request* request, Response* response) {
    slot_.message = request;
    this->set_response(response);
  }

  const std::shared_ptr<Method> method_;
  Scope scope_;
  RequestSlot<Request> slot_;
};

/// A call that there was no memory for: no scope and no messages, only the reason. gRPC hands them
/// on without looking at them.
/// Lifetime rule: until gRPC calls Release(), where it was made with `new`.
template <typename Request, typename Response>
class RefusedMessages : public ::grpc::MessageHolder<RequestSlot<Request>, Response> {
 public:
  explicit RefusedMessages(const Refusal& refusal) noexcept {
    slot_.refusal = refusal;
    this->set_request(&slot_);
  }
  void Release() override {
    slot_.TakeBack();
    delete this;
  }

 private:
  RequestSlot<Request> slot_;
};

/// The same for any number of calls at once, when there was no memory for that either.
/// Thread rule: any thread. Lifetime rule: must outlive the calls.
template <typename Request, typename Response>
class SharedRefusedMessages final : public RefusedMessages<Request, Response> {
 public:
  SharedRefusedMessages() noexcept : RefusedMessages<Request, Response>(Refusal()) {}
  void Release() override {}
};

}  // namespace harena::grpc
