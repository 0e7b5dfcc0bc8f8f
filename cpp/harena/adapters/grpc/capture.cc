#include "harena/adapters/grpc/capture.h"

#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include "harena/adapters/grpc/hand_over.h"
#include "harena/pb/capture/call_capture.h"

namespace harena::grpc {
namespace {

using ::grpc::experimental::InterceptionHookPoints;
using ::grpc::experimental::InterceptorBatchMethods;

// gRPC hands messages on as void; a message's base stands at its start.
std::optional<std::string> WireOf(const void* message, const pb::Capture& capture) noexcept {
  if (message == nullptr) return std::nullopt;
  return pb::CapturedWire(*static_cast<const google::protobuf::MessageLite*>(message), capture);
}

// Of a completion queue's API gRPC has the bytes alone.
std::optional<std::string> SentWire(InterceptorBatchMethods& batch,
                                    const pb::Capture& capture) noexcept {
  const void* message = batch.GetSendMessage();
  if (message != nullptr) return WireOf(message, capture);
  const ::grpc::ByteBuffer* bytes = batch.GetSerializedSendMessage();
  if (bytes == nullptr || !bytes->Valid() || bytes->Length() > capture.call_bytes_max()) {
    return std::nullopt;
  }
  try {
    ::grpc::Slice slice;
    if (!bytes->DumpToSingleSlice(&slice).ok()) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(slice.begin()), slice.size());
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// One unary call; gRPC deletes it when the call has ended.
class UnaryCapture final : public ::grpc::experimental::Interceptor {
 public:
  UnaryCapture(pb::Capture& capture, const char* method)
      : capture_(capture), call_(capture, method) {}

  ~UnaryCapture() override { handed_.TakeBack(); }

  void Intercept(InterceptorBatchMethods* batch) override {
    handed_.TakeBack();
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE)) {
      call_.set_request(WireOf(batch->GetRecvMessage(), capture_));
    }
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      call_.set_response(SentWire(*batch, capture_));
    }
    handed_.HandOn();
    batch->Proceed();
  }

 private:
  pb::Capture& capture_;
  pb::CallCapture call_;
  HandOver handed_;
};

/// One stream, whose messages are captured as calls. It may be read and written at the same time.
class StreamCapture final : public ::grpc::experimental::Interceptor {
 public:
  StreamCapture(pb::Capture& capture, const char* method) : capture_(capture), method_(method) {
    static_cast<void>(Exchange(std::nullopt));  // so that its mutex orders all that follows
  }

  ~StreamCapture() override { Offer(Exchange(std::nullopt)); }

  void Intercept(InterceptorBatchMethods* batch) override {
    // At a stream's end there is no message.
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE) &&
        batch->GetRecvMessage() != nullptr) {
      Received(batch->GetRecvMessage());
    }
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE))
      Sending(*batch);
    batch->Proceed();
  }

 private:
  // A message that nothing was sent after. Without a call it is not to be captured.
  struct Read {
    std::optional<pb::CapturedCall> call;
  };

  void Received(const void* message) {
    Read read;
    if (capture_.Wants()) {
      if (std::optional<std::string> wire = WireOf(message, capture_)) {
        read.call = pb::BeginCapturedCall(method_);
        read.call->request = *std::move(wire);
      } else {
        capture_.Drop();
      }
    }
    Offer(Exchange(std::move(read)));
  }

  void Sending(InterceptorBatchMethods& batch) {
    std::optional<Read> of = Exchange(std::nullopt);
    if (!of) {
      of.emplace();
      if (capture_.Wants()) of->call = pb::BeginCapturedCall(method_);
    }
    if (!of->call) return;
    of->call->response = SentWire(batch, capture_);
    if (!of->call->response) return capture_.Drop();
    Offer(of);
  }

  std::optional<Read> Exchange(std::optional<Read> now) {
    const std::lock_guard lock(mutex_);
    return std::exchange(read_, std::move(now));
  }

  void Offer(const std::optional<Read>& read) {
    if (read && read->call) capture_.Offer(*read->call);
  }

  pb::Capture& capture_;
  const std::string method_;
  std::mutex mutex_;
  std::optional<Read> read_;
};

}  // namespace

::grpc::experimental::Interceptor* CaptureInterceptors::CreateServerInterceptor(
    ::grpc::experimental::ServerRpcInfo* call) {
  if (!methods_.contains(call->method())) return nullptr;
  if (call->type() != ::grpc::experimental::ServerRpcInfo::Type::UNARY) {
    return new StreamCapture(capture_, call->method());
  }
  return capture_.Wants() ? new UnaryCapture(capture_, call->method()) : nullptr;
}

}  // namespace harena::grpc
