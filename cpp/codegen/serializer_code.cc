#include "serializer_code.h"

#include <algorithm>
#include <vector>

#include <google/protobuf/compiler/cpp/names.h>
#include <google/protobuf/wire_format.h>

#include "field_names.h"
#include "protobuf_release.h"

namespace harena::codegen {
namespace {

namespace cpp = google::protobuf::compiler::cpp;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormat;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::Printer;

using Fields = std::vector<const FieldDescriptor*>;
using Ranges = std::vector<const Descriptor::ExtensionRange*>;

// By number.
Fields SortedFields(const Descriptor& message) {
  Fields fields;
  fields.reserve(static_cast<size_t>(message.field_count()));
  for (int i = 0; i < message.field_count(); ++i) fields.push_back(message.field(i));
  std::sort(fields.begin(), fields.end(),
            [](const auto* a, const auto* b) { return a->number() < b->number(); });
  return fields;
}

Ranges SortedRanges(const Descriptor& message) {
  Ranges ranges;
  ranges.reserve(static_cast<size_t>(message.extension_range_count()));
  for (int i = 0; i < message.extension_range_count(); ++i) {
    ranges.push_back(message.extension_range(i));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const auto* a, const auto* b) { return StartOf(*a) < StartOf(*b); });
  return ranges;
}

// Whether the last of `fields` stands behind the last of `ranges`.
bool IsFieldLast(const Fields& fields, const Ranges& ranges) {
  if (fields.empty()) return false;
  return ranges.empty() || fields.back()->number() > StartOf(*ranges.back());
}

bool IsScalar(const FieldDescriptor& field) {
  return !field.is_repeated() && field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
         field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
}

// What a scalar takes at most, with its tag.
size_t BytesMax(const FieldDescriptor& field) {
  const size_t tag = WireFormat::TagSize(field.number(), field.type());
  switch (WireFormat::WireTypeForFieldType(field.type())) {
    case WireFormatLite::WIRETYPE_FIXED32:
      return tag + 4;
    case WireFormatLite::WIRETYPE_FIXED64:
      return tag + 8;
    default:
      return tag + 10;
  }
}

// What the scalars at the end take at most. (By value: it takes them off.)
size_t BytesMaxOfScalars(Fields fields, const Ranges& ranges) {
  size_t bytes = 0;
  for (; IsFieldLast(fields, ranges) && IsScalar(*fields.back()); fields.pop_back()) {
    bytes += BytesMax(*fields.back());
  }
  return bytes;
}

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
              "  to = codec::PutField<$type$>(\n"
              "      to, $tag$u, _internal_$name$());\n");
  }
  out.Print("}\n");
}

}  // namespace

void PrintSerializer(const Descriptor& message, Printer& out) {
  Fields fields = SortedFields(message);
  Ranges ranges = SortedRanges(message);
  out.Print(
      "uint8_t* $class$::HarenaWrite(uint8_t* to, ::harena::pb::codec::Writer& writer,\n"
      "                               uint32_t tag) const {\n"
      "  namespace codec = ::harena::pb::codec;\n"
      "  const size_t behind = writer.BytesFrom(to);\n"
      "  if (HARENA_UNLIKELY(_internal_metadata_.have_unknown_fields())) {\n"
      "    to = codec::WriteUnknown(\n"
      "        to, writer,\n"
      "        _internal_metadata_.unknown_fields<::google::protobuf::UnknownFieldSet>(\n"
      "            ::google::protobuf::UnknownFieldSet::default_instance));\n"
      "  }\n",
      "class", cpp::ClassName(&message));
  out.Indent();
  // One look at the room serves scalars that follow each other.
  bool has_room = false;
  while (!fields.empty() || !ranges.empty()) {
    if (IsFieldLast(fields, ranges)) {
      const FieldDescriptor& field = *fields.back();
      if (!IsScalar(field)) {
        has_room = false;
      } else if (!has_room) {
        has_room = true;
        out.Print("to = writer.Room(to, $bytes$);\n", "bytes",
                  std::to_string(BytesMaxOfScalars(fields, ranges)));
      }
      if (field.is_repeated()) {
        PrintRepeated(field, VariablesOf(field), out);
      } else {
        PrintSingular(field, VariablesOf(field), out);
      }
      fields.pop_back();
    } else {
      const Descriptor::ExtensionRange& range = *ranges.back();
      out.Print(
          "to = codec::WriteExtensions(to, writer, _impl_._extensions_,\n"
          "                            $default$, $start$, $end$);\n",
          "default", kDefaultInstance, "start", std::to_string(StartOf(range)), "end",
          std::to_string(EndOf(range)));
      ranges.pop_back();
      has_room = false;
    }
  }
  if (!has_room) out.Print("to = writer.Room(to, 0);\n");
  out.Outdent();
  out.Print(
      "  return codec::PutHead(to, writer, tag, *this, behind);\n"
      "}\n\n");
}

}  // namespace harena::codegen
