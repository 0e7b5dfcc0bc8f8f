#include "harena/adapters/trpc/scoped_call.h"

#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "harena/pb/budget_frame.h"
#include "harena/pb/message_arena.h"

namespace harena::trpc {
namespace {

using google::protobuf::Message;

// Filters' ids are small numbers, and the user has SetUserData() for his own.
constexpr uint32_t kContextSlot = 0x48415245;

// The object is the heap's, its end the scope's, so that Detach() keeps it in this mode too.
Message* NewOnHeap(Scope& scope, const Message& prototype) {
  auto* owner = scope.Create<std::unique_ptr<Message>>();
  owner->reset(prototype.New());
  return owner->get();
}

}  // namespace

ScopedCall* ScopedCall::Make(pb::Method& method, const Message& request_prototype,
                             const Message& response_prototype, Refusal* refusal) noexcept {
  std::optional<Scope> scope = method.scopes().TryAcquire(refusal);
  if (!scope) return nullptr;
  try {
    const Pair pair = MakeMessages(method, *scope, request_prototype, response_prototype);
    void* place = scope->arena().Allocate(sizeof(ScopedCall), alignof(ScopedCall));
    return ::new (place) ScopedCall(std::move(*scope), pair);
  } catch (const std::bad_alloc& exceeded) {
    *refusal = RefusalOf(exceeded);
    return nullptr;
  }
}

ScopedCall::Pair ScopedCall::MakeMessages(pb::Method& method, Scope& scope,
                                          const Message& request_prototype,
                                          const Message& response_prototype) {
  // The scope's own mode: another thread may be changing the method's.
  switch (method.Serve(scope.mode())) {
    case Mode::kHeap:
      break;
    case Mode::kArena:
    case Mode::kPages:
    case Mode::kCodec: {
      pb::MessageArena& home = pb::MessageArena::Of(scope);
      const pb::BudgetFrame frame(scope.budget());
      const Pair pair{request_prototype.New(&home.arena()), response_prototype.New(&home.arena())};
      // tRPC's serializations fill a request once, by ParsePartial...(), and the method gets it as
      // const.
      home.ExpectParse(*pair.request, pb::RequiredFields::kMayBeMissing);
      return pair;
    }
    case Mode::kReuse: {
      const pb::MessageKeeper::Pair pair = method.keeper().Borrow(scope);
      return {static_cast<Message*>(pair.request), static_cast<Message*>(pair.response)};
    }
  }
  return {NewOnHeap(scope, request_prototype), NewOnHeap(scope, response_prototype)};
}

ScopedCall::ScopedCall(Scope scope, Pair pair) noexcept
    : scope_(std::move(scope)), request_(pair.request), response_(pair.response) {}

const Refusal* ScopedCall::refused_parse() const noexcept {
  const pb::MessageArena* home = pb::MessageArena::Find(request_->GetArena());
  return home != nullptr && home->refused_parse() ? &*home->refused_parse() : nullptr;
}

ScopedCall* ScopedCall::Of(::trpc::ServerContext& context) noexcept {
  ScopedCall** slot = context.GetFilterData<ScopedCall*>(kContextSlot);
  return slot == nullptr ? nullptr : *slot;
}

void ScopedCall::HangOn(::trpc::ServerContext& context) {
  try {
    context.SetFilterData(kContextSlot, this);
  } catch (const std::bad_alloc&) {
    End();
    throw;
  }
  context.SetRequestData(request_);
  context.SetResponseData(response_);
}

void ScopedCall::TakeOff(::trpc::ServerContext& context) noexcept {
  context.GetAllFilterData().erase(kContextSlot);
  context.SetRequestData(nullptr);
  context.SetResponseData(nullptr);
}

void ScopedCall::End() noexcept {
  // The scope holds the memory this object stands in, so it leaves first and ends last.
  const Scope scope = std::move(scope_);
  this->~ScopedCall();
}

}  // namespace harena::trpc
