#include "harena/pb/call/reusable.h"

#include <set>
#include <vector>

#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.h>

namespace harena::pb {
namespace {

using google::protobuf::Arena;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool SurvivesClear(const Message& prototype, const FieldDescriptor& field) {
  Arena arena;
  Message* message = prototype.New(&arena);
  const Message* before = message->GetReflection()->MutableMessage(message, &field);
  message->Clear();
  // An abandoned sub-message stays allocated on the arena, so a new one has another address.
  return message->GetReflection()->MutableMessage(message, &field) == before;
}

}  // namespace

std::optional<std::string> WhyNotReusable(const Message& prototype) {
  std::set<const Descriptor*> seen = {prototype.GetDescriptor()};
  std::vector<const Message*> open = {&prototype};
  while (!open.empty()) {
    const Message& message = *open.back();
    open.pop_back();
    const Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      // Map entries are never kept, but they are what the growth rule watches.
      if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field.is_map()) continue;
      if (!field.is_repeated() && !SurvivesClear(message, field)) {
        return "field " + std::string(field.full_name()) + " is dropped by Clear(); " +
               (field.real_containing_oneof() != nullptr
                    ? "a message in a oneof is not kept by this version of protobuf"
                    : "declare it `optional`");
      }
      if (!seen.insert(field.message_type()).second) continue;
      open.push_back(
          message.GetReflection()->GetMessageFactory()->GetPrototype(field.message_type()));
    }
  }
  return std::nullopt;
}

std::optional<std::string> WhyNotReusable(const Message& request, const Message& response) {
  auto reason = WhyNotReusable(request);
  return reason ? reason : WhyNotReusable(response);
}

}  // namespace harena::pb
