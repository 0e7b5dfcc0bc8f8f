#include "serializer_code.h"

#include <algorithm>
#include <vector>

#include <google/protobuf/compiler/cpp/names.h>

#include "field_names.h"
#include "protobuf_release.h"

namespace harena::codegen {
namespace {

namespace cpp = google::protobuf::compiler::cpp;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::io::Printer;

void PrintRepeated(const FieldDescriptor& field, Variables variables, Printer& out) {
  if (field.is_map()) {
    const FieldDescriptor& key = *field.message_type()->map_key();
    const FieldDescriptor& value = *field.message_type()->map_value();
    variables["key_type"] = VariablesOf(key)["type"];
    variables["value_type"] = VariablesOf(value)["type"];
    variables["key_utf8"] = Utf8Name(key);
    variables["value_utf8"] = Utf8Name(value);
    out.Print(variables,
              "to = codec::WriteMap<$key_type$,\n"
              "                     $value_type$>(\n"
              "    to, writer, $tag$u, _internal_$name$(), $key_utf8$, $value_utf8$);\n");
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    out.Print(variables,
              "to = codec::WriteRepeatedString(to, writer, $tag$u, $member$, $utf8$);\n");
  } else if (field.type() == FieldDescriptor::TYPE_GROUP) {
    out.Print(variables, "to = codec::WriteRepeatedGroup(to, writer, $tag$u, $member$);\n");
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    out.Print(variables, "to = codec::WriteRepeatedMessage(to, writer, $tag$u, $member$);\n");
  } else if (field.is_packed()) {
    out.Print(variables,
              "to = codec::WritePacked<$type$>(\n"
              "    to, writer, $packed_tag$u, $member$);\n");
  } else {
    out.Print(variables,
              "to = codec::WriteRepeated<$type$>(\n"
              "    to, writer, $tag$u, $member$);\n");
  }
}

// The condition under which a singular field is written.
std::string Presence(const FieldDescriptor& field) {
  const std::string name = cpp::FieldName(&field);
  const bool message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (message || field.real_containing_oneof() || HasHasbit(field)) {
    return kHas + name + "()";
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return "!_internal_" + name + "().empty()";
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "std::bit_cast<uint32_t>(_internal_" + name + "()) != 0";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "std::bit_cast<uint64_t>(_internal_" + name + "()) != 0";
    default:
      return "_internal_" + name + "() != 0";
  }
}

void PrintSingular(const FieldDescriptor& field, Variables variables, Printer& out) {
  variables["present"] = Presence(field);
  out.Print(variables, "if ($present$) {\n");
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    out.Print(variables,
              "  to = codec::WriteString(to, writer, $tag$u, _internal_$name$(), $utf8$);\n");
  } else if (field.type() == FieldDescriptor::TYPE_GROUP) {
    out.Print(variables, "  to = codec::WriteGroup(to, writer, $tag$u, _internal_$name$());\n");
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    out.Print(variables, "  to = codec::WriteMessage(to, writer, $tag$u, _internal_$name$());\n");
  } else {
    out.Print(variables,
              "  to = codec::WriteScalar<$type$>(\n"
              "      to, writer, $tag$u, _internal_$name$());\n");
  }
  out.Print("}\n");
}

}  // namespace

void PrintSerializer(const Descriptor& message, Printer& out) {
  std::vector<const FieldDescriptor*> fields;
  fields.reserve(static_cast<size_t>(message.field_count()));
  for (int i = 0; i < message.field_count(); ++i) fields.push_back(message.field(i));
  std::sort(fields.begin(), fields.end(),
            [](const auto* a, const auto* b) { return a->number() < b->number(); });
  std::vector<const Descriptor::ExtensionRange*> ranges;
  ranges.reserve(static_cast<size_t>(message.extension_range_count()));
  for (int i = 0; i < message.extension_range_count(); ++i) {
    ranges.push_back(message.extension_range(i));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const auto* a, const auto* b) { return StartOf(*a) < StartOf(*b); });

  out.Print(
      "uint8_t* $class$::HarenaWrite(uint8_t* to, ::harena::pb::codec::Writer& writer) const {\n"
      "  namespace codec = ::harena::pb::codec;\n"
      "  static_cast<void>(writer);\n"
      "  if (HARENA_UNLIKELY(_internal_metadata_.have_unknown_fields())) {\n"
      "    to = codec::WriteUnknown(\n"
      "        to, writer,\n"
      "        _internal_metadata_.unknown_fields<::google::protobuf::UnknownFieldSet>(\n"
      "            ::google::protobuf::UnknownFieldSet::default_instance));\n"
      "  }\n",
      "class", cpp::ClassName(&message));
  out.Indent();
  while (!fields.empty() || !ranges.empty()) {
    if (ranges.empty() || (!fields.empty() && fields.back()->number() > StartOf(*ranges.back()))) {
      const FieldDescriptor& field = *fields.back();
      fields.pop_back();
      if (field.is_repeated()) {
        PrintRepeated(field, VariablesOf(field), out);
      } else {
        PrintSingular(field, VariablesOf(field), out);
      }
    } else {
      const Descriptor::ExtensionRange& range = *ranges.back();
      ranges.pop_back();
      out.Print(
          "to = codec::WriteExtensions(to, writer, _impl_._extensions_,\n"
          "                            $default$, $start$, $end$);\n",
          "default", kDefaultInstance, "start", std::to_string(StartOf(range)), "end",
          std::to_string(EndOf(range)));
    }
  }
  out.Outdent();
  out.Print(
      "  return to;\n"
      "}\n\n");
}

}  // namespace harena::codegen
