#include "harena/adapters/brpc/request_messages.h"

#include <new>
#include <string>
#include <utility>

#include <butil/logging.h>

#include "harena/pb/budget_frame.h"
#include "harena/pb/message_arena.h"

namespace harena::brpc {
namespace {

using google::protobuf::Message;

// The object is the heap's, its end the scope's, so that Detach() keeps it in this mode too.
Message* NewOnHeap(Scope& scope, const Message& prototype) {
  auto* owner = scope.Create<std::unique_ptr<Message>>();
  owner->reset(prototype.New());
  return owner->get();
}

}  // namespace

RequestMessages* RequestMessages::Make(const MethodEntry& entry) {
  pb::Method& method = *entry.method;
  method.CountRequest();
  Refusal refusal;
  std::optional<Scope> scope = method.scopes().TryAcquire(&refusal);
  if (scope) {
    // brpc's frames stand above: what is refused here must not reach them as an exception.
    try {
      const Pair pair = MakeMessages(entry, *scope);
      void* place = scope->arena().Allocate(sizeof(RequestMessages), alignof(RequestMessages));
      return ::new (place) RequestMessages(method, std::move(*scope), pair);
    } catch (const std::bad_alloc& exceeded) {
      refusal = RefusalOf(exceeded);
    }
  }
  // brpc has no way to say no at this place (an Admission does, one step earlier), so it is served
  // as without Harena.
  static_cast<void>(method.Refuse(refusal));
  method.CountNoScope();
  return MakePlain(*entry.request_prototype, *entry.response_prototype);
}

RequestMessages* RequestMessages::MakePlain(const Message& request_prototype,
                                            const Message& response_prototype) {
  std::unique_ptr<Message> request(request_prototype.New());
  std::unique_ptr<Message> response(response_prototype.New());
  return new RequestMessages(std::move(request), std::move(response));
}

RequestMessages::Pair RequestMessages::MakeMessages(const MethodEntry& entry, Scope& scope) {
  // The scope's own mode: another thread may be changing the method's.
  switch (entry.method->Serve(scope.mode())) {
    case Mode::kHeap:
      break;
    case Mode::kArena:
    case Mode::kPages:
    case Mode::kCodec: {
      pb::MessageArena& home = pb::MessageArena::Of(scope);
      const pb::BudgetFrame frame(scope.budget());
      const Pair pair{entry.request_prototype->New(&home.arena()),
                      entry.response_prototype->New(&home.arena())};
      // Whatever brpc fills a request with, it does so once, and all that it hands the request to
      // gets it as const. docs/decisions/brpc-parse.md has the places.
      home.ExpectParse(*pair.request, pb::RequiredFields::kMustBeThere);
      return pair;
    }
    case Mode::kReuse: {
      const pb::MessageKeeper::Pair pair = entry.method->keeper().Borrow(scope);
      return {static_cast<Message*>(pair.request), static_cast<Message*>(pair.response)};
    }
  }
  return {NewOnHeap(scope, *entry.request_prototype), NewOnHeap(scope, *entry.response_prototype)};
}

RequestMessages::RequestMessages(pb::Method& method, Scope scope, Pair pair) noexcept
    : method_(&method), scope_(std::move(scope)), request_(pair.request), response_(pair.response) {
  live_ = {.response = response_, .scope = &*scope_};
  AddLiveRequest(live_);
}

RequestMessages::RequestMessages(std::unique_ptr<Message> request,
                                 std::unique_ptr<Message> response) noexcept
    : method_(nullptr),
      request_(request.get()),
      response_(response.get()),
      own_request_(std::move(request)),
      own_response_(std::move(response)) {}

void RequestMessages::CountFailedParse() noexcept {
  const pb::MessageArena* home = pb::MessageArena::Find(request_->GetArena());
  if (home == nullptr) return;
  if (home->malformed_parse()) method_->CountMalformed();
  if (!home->refused_parse()) return;
  const std::string refused = method_->Refuse(*home->refused_parse());
  try {
    // Whoever wants to, sends nothing else.
    LOG_EVERY_SECOND(WARNING) << refused;
  } catch (const std::bad_alloc&) {
    // Counted all the same.
  }
}

void RequestMessages::End() noexcept {
  if (!scope_) {
    delete this;
    return;
  }
  RemoveLiveRequest(live_);
  CountFailedParse();
  // The scope holds the memory this object stands in, so it leaves first and ends last.
  const Scope scope = std::move(*scope_);
  this->~RequestMessages();
}

}  // namespace harena::brpc
