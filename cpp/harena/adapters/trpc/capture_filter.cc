#include "harena/adapters/trpc/capture_filter.h"

#include <exception>
#include <memory>

#include <google/protobuf/message.h>

#include "harena/pb/capture/call_capture.h"

namespace harena::trpc {
namespace {

using google::protobuf::Message;
// Shared because a context's data is copied into it.
using Call = std::shared_ptr<pb::CallCapture>;

// tRPC hands messages on as void; a message's base stands at its start.
const Message* MessageAt(const void* data) { return static_cast<const Message*>(data); }

}  // namespace

void CaptureFilter::operator()(::trpc::FilterStatus& status, ::trpc::FilterPoint point,
                               const ::trpc::ServerContextPtr& context) {
  status = ::trpc::FilterStatus::CONTINUE;
  if (point == ::trpc::FilterPoint::SERVER_PRE_RPC_INVOKE) {
    if (!methods_.contains(context->GetFuncName()) || !capture_.Wants()) return;
    try {
      auto call = std::make_shared<pb::CallCapture>(capture_, context->GetFuncName());
      // Here already: a call that answers later may have lost its request by then.
      if (const Message* request = MessageAt(context->GetRequestData())) {
        call->set_request(*request);
      }
      context->SetFilterData(GetFilterID(), std::move(call));
    } catch (const std::exception&) {  // no memory: the call itself is not to suffer
      capture_.Drop();
    }
    return;
  }
  Call* call = context->GetFilterData<Call>(GetFilterID());
  if (call == nullptr || *call == nullptr) return;
  const Message* response = MessageAt(context->GetResponseData());
  if (context->GetStatus().OK() && response != nullptr) (*call)->set_response(*response);
  call->reset();
}

}  // namespace harena::trpc
