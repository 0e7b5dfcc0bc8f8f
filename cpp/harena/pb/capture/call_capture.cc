#include "harena/pb/capture/call_capture.h"

#include <chrono>
#include <exception>
#include <utility>

namespace harena::pb {

using google::protobuf::MessageLite;

std::optional<std::string> CapturedWire(const MessageLite& message,
                                        const Capture& capture) noexcept {
  try {
    std::string wire;
    if (message.ByteSizeLong() <= capture.call_bytes_max() &&
        message.SerializePartialToString(&wire)) {
      return wire;
    }
  } catch (const std::exception&) {  // no memory: the call itself is not to suffer
  }
  return std::nullopt;
}

CapturedCall BeginCapturedCall(std::string method) {
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.method = std::move(method),
          .time_unix_ms = std::chrono::duration_cast<milliseconds>(now).count()};
}

CallCapture::CallCapture(Capture& capture, std::string method)
    : capture_(capture), call_(BeginCapturedCall(std::move(method))) {}

CallCapture::~CallCapture() {
  if (has_request_ && call_.response) {
    capture_.Offer(call_);
  } else {
    capture_.Drop();
  }
}

void CallCapture::set_request(std::optional<std::string> wire) noexcept {
  has_request_ = wire.has_value();
  if (wire) call_.request = *std::move(wire);
}

void CallCapture::set_response(std::optional<std::string> wire) noexcept {
  call_.response = std::move(wire);
}

void CallCapture::set_request(const MessageLite& message) noexcept {
  set_request(CapturedWire(message, capture_));
}

void CallCapture::set_response(const MessageLite& message) noexcept {
  set_response(CapturedWire(message, capture_));
}

}  // namespace harena::pb
