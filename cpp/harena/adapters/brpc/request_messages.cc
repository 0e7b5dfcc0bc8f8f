#include "harena/adapters/brpc/request_messages.h"

#include <new>
#include <string>
#include <utility>

#include <butil/logging.h>

namespace harena::brpc {

RequestMessages* RequestMessages::TryMake(pb::Method& method) {
  method.CountRequest();
  Refusal refusal;
  if (auto* made = pb::CallMessages::TryMakeOnScope<RequestMessages>(method, &refusal, method)) {
    return made;
  }
  // brpc has no way to say no at this place (an Admission does, one step earlier), so it is served
  // as without Harena.
  static_cast<void>(method.Refuse(refusal));
  method.CountNoScope();
  return nullptr;
}

RequestMessages::RequestMessages(pb::Method& method, pb::CallMessages messages) noexcept
    : method_(method),
      messages_(std::move(messages)),
      live_{.response = Response(), .scope = &messages_.scope()} {
  // Whatever brpc fills a request with, it does so once, and all that it hands the request to gets
  // it as const. docs/decisions/brpc-parse.md has the places.
  messages_.ExpectParse(pb::RequiredFields::kMustBeThere);
  AddLiveRequest(live_);
}

void RequestMessages::CountFailedParse() noexcept {
  if (messages_.malformed_parse()) method_.CountMalformed();
  if (messages_.refused_parse() == nullptr) return;
  const std::string refused = method_.Refuse(*messages_.refused_parse());
  try {
    // Whoever wants to, sends nothing else.
    LOG_EVERY_SECOND(WARNING) << refused;
  } catch (const std::bad_alloc&) {
    // Counted all the same.
  }
}

void RequestMessages::End() noexcept {
  RemoveLiveRequest(live_);
  CountFailedParse();
  pb::CallMessages::EndOnOwnScope(*this, messages_);
}

}  // namespace harena::brpc
