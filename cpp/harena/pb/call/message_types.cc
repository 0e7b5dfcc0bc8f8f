#include "harena/pb/call/message_types.h"

#include <google/protobuf/descriptor.h>

#include "harena/pb/codec/registered.h"

namespace harena::pb {
namespace {

bool HasCodec(const CapabilityReport& report, const google::protobuf::Message& message) {
  const auto* const type = message.GetDescriptor();
  if (&message != google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)) {
    return false;
  }
  for (const CodecMessage& known : report.messages) {
    if (known.name == type->full_name()) return known.why_stock.empty();
  }
  return false;
}

}  // namespace

MessageTypes MessageTypes::Of(const google::protobuf::Message& request,
                              const google::protobuf::Message& response) {
  const CapabilityReport report = Capabilities();
  const bool request_codec = report.codec && HasCodec(report, request);
  return {.why_not_reusable = WhyNotReusable(request, response),
          .codec = request_codec || (report.codec && HasCodec(report, response)),
          .request_codec = request_codec};
}

}  // namespace harena::pb
