#include "harena/adapters/trpc/scoped_call.h"

#include <new>
#include <utility>

#include "harena/adapters/trpc/scope_of.h"
#include "harena/base/check.h"

namespace harena::trpc {
namespace {

// Filters' ids are small numbers, and the user has SetUserData() for his own.
constexpr uint32_t kContextSlot = 0x48415245;

}  // namespace

ScopedCall::ScopedCall(pb::CallMessages messages) noexcept : messages_(std::move(messages)) {
  // tRPC's serializations fill a request once, by ParsePartial...(), and the method gets it as
  // const.
  messages_.ExpectParse(pb::RequiredFields::kMayBeMissing);
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
  context.SetRequestData(&request());
  context.SetResponseData(static_cast<google::protobuf::Message*>(&messages_.response()));
}

void ScopedCall::TakeOff(::trpc::ServerContext& context) noexcept {
  context.GetAllFilterData().erase(kContextSlot);
  context.SetRequestData(nullptr);
  context.SetResponseData(nullptr);
}

void ScopedCall::End() noexcept { pb::CallMessages::EndOnOwnScope(*this, messages_); }

Scope* FindScope(::trpc::ServerContext& context) noexcept {
  ScopedCall* call = ScopedCall::Of(context);
  return call == nullptr ? nullptr : &call->scope();
}

Scope& ScopeOf(::trpc::ServerContext& context) {
  Scope* scope = FindScope(context);
  HARENA_CHECK(scope != nullptr,
               "ScopeOf: this call has no scope. Pass the context that tRPC gave to a method that "
               "harena::trpc::Services serves, before its response is sent; or use FindScope()");
  return *scope;
}

}  // namespace harena::trpc
