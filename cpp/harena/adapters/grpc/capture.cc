#include "harena/adapters/grpc/capture.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

namespace harena::grpc {
namespace {

using google::protobuf::MessageLite;
using ::grpc::experimental::InterceptionHookPoints;
using ::grpc::experimental::InterceptorBatchMethods;

int64_t UnixMilliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// The bytes of a message, or nothing when there are none to be had or they are too many. gRPC hands
// messages on as void; a message's base stands at its start.
std::optional<std::string> WireOf(const void* message, const pb::Capture& capture) noexcept {
  if (message == nullptr) return std::nullopt;
  try {
    const auto& known = *static_cast<const MessageLite*>(message);
    std::string wire;
    if (known.ByteSizeLong() <= capture.call_bytes_max() && known.SerializePartialToString(&wire)) {
      return wire;
    }
  } catch (const std::exception&) {  // no memory: the call itself is not to suffer
  }
  return std::nullopt;
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
    std::vector<::grpc::Slice> slices;
    if (!bytes->Dump(&slices).ok()) return std::nullopt;
    std::string wire;
    wire.reserve(bytes->Length());
    for (const ::grpc::Slice& slice : slices) {
      wire.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
    return wire;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// One unary call; gRPC deletes it when the call has ended.
class CallCapture final : public ::grpc::experimental::Interceptor {
 public:
  CallCapture(pb::Capture& capture, const char* method) : capture_(capture) {
    call_.method = method;
    call_.time_unix_ms = UnixMilliseconds();
  }

  ~CallCapture() override {
    static_cast<void>(handed_on_.load(std::memory_order_acquire));
    // Without a response the call has failed, and of a refused one the request is not whole.
    if (read_ && call_.response) {
      capture_.Offer(call_);
    } else {
      capture_.Drop();
    }
  }

  void Intercept(InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE)) {
      std::optional<std::string> request = WireOf(batch->GetRecvMessage(), capture_);
      read_ = request.has_value();
      if (read_) call_.request = *std::move(request);
    }
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      call_.response = SentWire(*batch, capture_);
    }
    handed_on_.store(true, std::memory_order_release);
    batch->Proceed();
  }

 private:
  pb::Capture& capture_;
  pb::CapturedCall call_;
  bool read_ = false;
  // gRPC orders what it does on its threads, which ThreadSanitizer does not see; as in RequestSlot.
  std::atomic<bool> handed_on_{false};
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
        read.call = Begin();
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
      if (capture_.Wants()) of->call = Begin();
    }
    if (!of->call) return;
    of->call->response = SentWire(batch, capture_);
    if (!of->call->response) return capture_.Drop();
    Offer(of);
  }

  pb::CapturedCall Begin() const { return {.method = method_, .time_unix_ms = UnixMilliseconds()}; }

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
  return capture_.Wants() ? new CallCapture(capture_, call->method()) : nullptr;
}

}  // namespace harena::grpc
