#pragma once

#include <optional>
#include <string>

#include <google/protobuf/message.h>

namespace harena::pb {

/// Why instances of this message type cannot usefully be kept, as one sentence that names the
/// field; nullopt when they can.
///
/// A kept message pays only if Clear() keeps its sub-messages. protobuf 3.21 drops a singular
/// sub-message that has no presence bit (proto3 without `optional`, or a oneof member): on an arena
/// it is abandoned there. Rather than guess by version, this asks the library: it sets each such
/// field of an instance, clears it, and looks whether the sub-message is still there.
/// Thread rule: any thread. Cost: once per method, at start.
std::optional<std::string> WhyNotReusable(const google::protobuf::Message& prototype);
/// The same of a method's two.
std::optional<std::string> WhyNotReusable(const google::protobuf::Message& request,
                                          const google::protobuf::Message& response);

}  // namespace harena::pb
