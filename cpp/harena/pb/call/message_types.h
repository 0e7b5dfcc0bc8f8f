// What a method's message types can do.
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include <google/protobuf/message.h>

#include "harena/pb/call/reusable.h"
#include "harena/pb/codec/access.h"

namespace harena::pb {

struct MessageTypes {
  std::optional<std::string> why_not_reusable;
  bool codec = false;  ///< The request's or the response's type has a codec.
  /// The request's has one. Where the framework parses, its limits need that.
  bool request_codec = false;

  /// Of classes. Cost: once per method, at start.
  template <typename Request, typename Response>
  static MessageTypes Of() {
    MessageTypes types{.why_not_reusable = "messages of the lite runtime cannot be inspected",
                       .codec = codec::HasCodec<Request> || codec::HasCodec<Response>,
                       .request_codec = codec::HasCodec<Request>};
    if constexpr (std::is_base_of_v<google::protobuf::Message, Request> &&
                  std::is_base_of_v<google::protobuf::Message, Response>) {
      types.why_not_reusable =
          WhyNotReusable(Request::default_instance(), Response::default_instance());
    }
    return types;
  }
  /// Of messages that are known by their base class alone. A codec is known by the type's name; a
  /// dynamic message of that name has none.
  static MessageTypes Of(const google::protobuf::Message& request,
                         const google::protobuf::Message& response);
};

}  // namespace harena::pb
