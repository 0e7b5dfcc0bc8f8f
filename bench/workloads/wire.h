#pragma once

#include <string>

#include <google/protobuf/message_lite.h>

namespace harena::bench {

/// The message's wire bytes with map entries in key order, so that equal messages give equal bytes.
/// Required fields may be missing. Thread-safe for a message that nobody changes.
std::string DeterministicBytes(const google::protobuf::MessageLite& message);

}  // namespace harena::bench
