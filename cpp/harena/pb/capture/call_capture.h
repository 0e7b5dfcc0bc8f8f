// One call that is being captured: what the adapters have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <google/protobuf/message_lite.h>

#include "harena/pb/capture/capture.h"

namespace harena::pb {

/// The wire bytes of `message`, or nullopt when they are more than `capture` takes of a call, or
/// there is no memory for them.
std::optional<std::string> CapturedWire(const google::protobuf::MessageLite& message,
                                        const Capture& capture) noexcept;

/// A call that begins now.
CapturedCall BeginCapturedCall(std::string method);

/// A call that Capture::Wants(). Offers it when it ends, if both messages are there; otherwise the
/// call failed, or is too large, and is counted as dropped.
/// Thread rule: thread-compatible. Lifetime rule: ends before `capture` does.
class CallCapture {
 public:
  CallCapture(Capture& capture, std::string method);
  ~CallCapture();
  CallCapture(const CallCapture&) = delete;
  CallCapture& operator=(const CallCapture&) = delete;

  /// Wire bytes; nullopt when there are none to be had.
  void set_request(std::optional<std::string> wire) noexcept;
  void set_response(std::optional<std::string> wire) noexcept;
  void set_request(const google::protobuf::MessageLite& message) noexcept;
  void set_response(const google::protobuf::MessageLite& message) noexcept;

 private:
  Capture& capture_;
  CapturedCall call_;
  bool has_request_ = false;
};

}  // namespace harena::pb
