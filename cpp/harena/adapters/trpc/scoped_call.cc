#include "harena/adapters/trpc/scoped_call.h"

#include <new>
#include <utility>

namespace harena::trpc {
namespace {

// Filters' ids are small numbers, and the user has SetUserData() for his own.
constexpr uint32_t kContextSlot = 0x48415245;

}  // namespace

ScopedCall* ScopedCall::Make(pb::Method& method, Refusal* refusal) noexcept {
  auto messages = pb::CallMessages::TryMake(method, refusal);
  if (!messages) return nullptr;
  return pb::CallMessages::TryMakeOnScope<ScopedCall>(std::move(*messages), refusal);
}

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

}  // namespace harena::trpc
