#include "harena/adapters/brpc/request_messages.h"

#include <new>
#include <string>
#include <utility>

#include <butil/logging.h>

namespace harena::brpc {
using google::protobuf::Message;

RequestMessages* RequestMessages::Make(pb::Method& method, const Message& request_prototype,
                                       const Message& response_prototype) {
  method.CountRequest();
  Refusal refusal;
  if (auto messages = pb::CallMessages::TryMake(method, &refusal)) {
    auto* made =
        pb::CallMessages::TryMakeOnScope<RequestMessages>(std::move(*messages), &refusal, method);
    if (made != nullptr) return made;
  }
  // brpc has no way to say no at this place (an Admission does, one step earlier), so it is served
  // as without Harena.
  static_cast<void>(method.Refuse(refusal));
  method.CountNoScope();
  return MakePlain(request_prototype, response_prototype);
}

RequestMessages* RequestMessages::MakePlain(const Message& request_prototype,
                                            const Message& response_prototype) {
  std::unique_ptr<Message> request(request_prototype.New());
  std::unique_ptr<Message> response(response_prototype.New());
  return new RequestMessages(std::move(request), std::move(response));
}

RequestMessages::RequestMessages(pb::Method& method, pb::CallMessages messages) noexcept
    : method_(&method),
      messages_(std::move(messages)),
      request_(static_cast<Message*>(&messages_->request())),
      response_(static_cast<Message*>(&messages_->response())) {
  // Whatever brpc fills a request with, it does so once, and all that it hands the request to gets
  // it as const. docs/decisions/brpc-parse.md has the places.
  messages_->ExpectParse(pb::RequiredFields::kMustBeThere);
  live_ = {.response = response_, .scope = &messages_->scope()};
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
  if (messages_->malformed_parse()) method_->CountMalformed();
  if (messages_->refused_parse() == nullptr) return;
  const std::string refused = method_->Refuse(*messages_->refused_parse());
  try {
    // Whoever wants to, sends nothing else.
    LOG_EVERY_SECOND(WARNING) << refused;
  } catch (const std::bad_alloc&) {
    // Counted all the same.
  }
}

void RequestMessages::End() noexcept {
  if (!messages_) {
    delete this;
    return;
  }
  RemoveLiveRequest(live_);
  CountFailedParse();
  pb::CallMessages::EndOnOwnScope(*this, *messages_);
}

}  // namespace harena::brpc
