#include "harena/adapters/grpc/capture.h"

#include <chrono>
#include <exception>
#include <string>

#include <google/protobuf/message_lite.h>

#include "harena/adapters/grpc/hand_over.h"

namespace harena::grpc {
namespace {

using google::protobuf::MessageLite;
using ::grpc::experimental::InterceptionHookPoints;
using ::grpc::experimental::InterceptorBatchMethods;

int64_t UnixMilliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// One call; gRPC deletes it when the call has ended.
class CallCapture final : public ::grpc::experimental::Interceptor {
 public:
  CallCapture(pb::Capture& capture, const char* method) : capture_(capture) {
    call_.method = method;
    call_.time_unix_ms = UnixMilliseconds();
  }

  ~CallCapture() override {
    handed_.TakeBack();
    // Without a response the call has failed, and of a refused one the request is not whole.
    if (whole_ && call_.response) {
      capture_.Offer(call_);
    } else {
      capture_.Drop();
    }
  }

  void Intercept(InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE)) {
      Read(batch->GetRecvMessage(), call_.request);
    }
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      Read(batch->GetSendMessage(), call_.response.emplace());
    }
    handed_.HandOn();
    batch->Proceed();
  }

 private:
  // gRPC hands messages on as void; a message's base stands at its start.
  void Read(const void* message, std::string& wire) noexcept {
    if (message == nullptr) {
      whole_ = false;
      return;
    }
    try {
      const auto& known = *static_cast<const MessageLite*>(message);
      whole_ = whole_ && known.ByteSizeLong() <= capture_.call_bytes_max() &&
               known.SerializePartialToString(&wire);
    } catch (const std::exception&) {
      whole_ = false;  // no memory: the call itself is not to suffer
    }
  }

  pb::Capture& capture_;
  pb::CapturedCall call_;
  bool whole_ = true;
  HandOver handed_;
};

}  // namespace

::grpc::experimental::Interceptor* CaptureInterceptors::CreateServerInterceptor(
    ::grpc::experimental::ServerRpcInfo* call) {
  const bool unary = call->type() == ::grpc::experimental::ServerRpcInfo::Type::UNARY;
  if (!unary || !methods_.contains(call->method()) || !capture_.Wants()) return nullptr;
  return new CallCapture(capture_, call->method());
}

}  // namespace harena::grpc
