#include "harena/pb/call/call_messages.h"

#include <memory>

namespace harena::pb {
namespace {

using google::protobuf::MessageLite;

// The object is the heap's, its end the scope's, so that Detach() keeps it in this mode too.
MessageLite* NewOnHeap(Scope& scope, const MessageLite& prototype) {
  auto* owner = scope.Create<std::unique_ptr<MessageLite>>();
  owner->reset(prototype.New());
  return owner->get();
}

}  // namespace

std::optional<CallMessages> CallMessages::TryMake(Method& method, Refusal* refusal) noexcept {
  try {
    std::optional<Scope> scope = method.scopes().TryAcquire(refusal);
    if (!scope) return std::nullopt;
    return CallMessages(method, std::move(*scope));
  } catch (const std::bad_alloc& exceeded) {
    *refusal = RefusalOf(exceeded);
    return std::nullopt;
  }
}

CallMessages::CallMessages(Method& method, Scope scope) : scope_(std::move(scope)) {
  // The scope's own mode: another thread may be changing the method's.
  switch (method.Serve(scope_.mode())) {
    case Mode::kHeap:
      request_ = NewOnHeap(scope_, method.request_prototype());
      response_ = NewOnHeap(scope_, method.response_prototype());
      break;
    case Mode::kArena:
    case Mode::kPages:
    case Mode::kCodec: {
      arena_ = &MessageArena::Of(scope_);
      const BudgetFrame frame(scope_.budget());
      request_ = method.request_prototype().New(&arena_->arena());
      response_ = method.response_prototype().New(&arena_->arena());
      break;
    }
    case Mode::kReuse: {
      const MessageKeeper::Pair pair = method.keeper().Take(scope_);
      request_ = pair.request;
      response_ = pair.response;
      break;
    }
  }
}

ParseResult CallMessages::Parse(google::protobuf::io::ZeroCopyInputStream& input, size_t wire_bytes,
                                const codec::MessageParser* type) noexcept {
  if (request_->GetArena() != nullptr) {
    return pb_internal::ParseInput(scope_, {.stream = &input, .bytes = wire_bytes}, *request_, type,
                                   pb_internal::Result::kFrozen);
  }
  // Mode `heap`: as without Harena.
  try {
    const bool ok = request_->ParseFromZeroCopyStream(&input);
    return {.status = ok ? ParseStatus::kOk : ParseStatus::kMalformed, .refusal = {}};
  } catch (const std::bad_alloc& exceeded) {
    return {.status = ParseStatus::kRefused, .refusal = RefusalOf(exceeded)};
  }
}

void CallMessages::ExpectParse(RequiredFields fields) noexcept {
  if (arena_ != nullptr) arena_->ExpectParse(*request_, fields);
}

const Refusal* CallMessages::refused_parse() const noexcept {
  return arena_ != nullptr && arena_->refused_parse() ? &*arena_->refused_parse() : nullptr;
}

}  // namespace harena::pb
