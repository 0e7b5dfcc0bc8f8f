#include "handler.h"

#include <memory>

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include "conformance.pb.h"

namespace harena::testee {
namespace {

using conformance::ConformanceRequest;
using conformance::ConformanceResponse;
using google::protobuf::Message;

const Message* ReadWire(const ConformanceRequest& request, Subject& subject,
                        ConformanceResponse& response) {
  const Subject::Parsed parsed = subject.ParseWire(request.protobuf_payload());
  if (parsed.result.status == pb::ParseStatus::kRefused) {
    // No test is about memory: a refusal is this program's failure.
    response.set_runtime_error("refused: " + parsed.result.refusal.Message());
  } else if (!parsed.result) {
    response.set_parse_error("not the wire of " + request.message_type());
  }
  return parsed.message;
}

const Message* ReadJson(const ConformanceRequest& request, Subject& subject,
                        ConformanceResponse& response) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields =
      request.test_category() == conformance::JSON_IGNORE_UNKNOWN_PARSING_TEST;
  Message& message = subject.MakeEmpty();
  const auto status =
      google::protobuf::util::JsonStringToMessage(request.json_payload(), &message, options);
  if (status.ok()) return &message;
  response.set_parse_error(status.ToString());
  return nullptr;
}

const Message* ReadText(const ConformanceRequest& request, Subject& subject,
                        ConformanceResponse& response) {
  Message& message = subject.MakeEmpty();
  if (google::protobuf::TextFormat::ParseFromString(request.text_payload(), &message)) {
    return &message;
  }
  response.set_parse_error("not the text format of " + request.message_type());
  return nullptr;
}

/// Null when the payload is not such a message; `response` then says why.
const Message* Read(const ConformanceRequest& request, Subject& subject,
                    ConformanceResponse& response) {
  switch (request.payload_case()) {
    case ConformanceRequest::kProtobufPayload:
      return ReadWire(request, subject, response);
    case ConformanceRequest::kJsonPayload:
      return ReadJson(request, subject, response);
    case ConformanceRequest::kTextPayload:
      return ReadText(request, subject, response);
    case ConformanceRequest::kJspbPayload:
      response.set_skipped("JSPB is not public");
      return nullptr;
    case ConformanceRequest::PAYLOAD_NOT_SET:
      break;
  }
  response.set_runtime_error("the request has no payload");
  return nullptr;
}

void Write(const ConformanceRequest& request, const Subject& subject, const Message& message,
           ConformanceResponse& response) {
  switch (request.requested_output_format()) {
    case conformance::PROTOBUF:
      if (!subject.Serialize(message, *response.mutable_protobuf_payload())) {
        response.set_serialize_error("the message cannot be serialized");
      }
      return;
    case conformance::JSON: {
      const auto status =
          google::protobuf::util::MessageToJsonString(message, response.mutable_json_payload());
      if (!status.ok()) response.set_serialize_error(status.ToString());
      return;
    }
    case conformance::TEXT_FORMAT: {
      google::protobuf::TextFormat::Printer printer;
      printer.SetHideUnknownFields(!request.print_unknown_fields());
      if (!printer.PrintToString(message, response.mutable_text_payload())) {
        response.set_serialize_error("the message cannot be printed");
      }
      return;
    }
    case conformance::JSPB:
      response.set_skipped("JSPB is not public");
      return;
    default:
      response.set_runtime_error("the request names no output format that this program knows");
  }
}

void AnswerRequest(const ConformanceRequest& request, const Route& route,
                   ConformanceResponse& response) {
  if (request.message_type() == conformance::FailureSet::descriptor()->full_name()) {
    // The runner asks which tests are known to fail here: none.
    response.set_protobuf_payload(conformance::FailureSet().SerializeAsString());
    return;
  }
  const std::unique_ptr<Subject> subject = MakeSubject(request.message_type(), route);
  if (subject == nullptr) {
    response.set_runtime_error("unknown message type `" + request.message_type() + "`");
    return;
  }
  if (const Message* message = Read(request, *subject, response)) {
    Write(request, *subject, *message, response);
  }
}

}  // namespace

std::string Answer(std::string_view request_wire, const Route& route) {
  ConformanceRequest request;
  ConformanceResponse response;
  if (request.ParseFromArray(request_wire.data(), static_cast<int>(request_wire.size()))) {
    AnswerRequest(request, route, response);
  } else {
    response.set_runtime_error("the frame is not a conformance.ConformanceRequest");
  }
  return response.SerializeAsString();
}

}  // namespace harena::testee
