#include "field_names.h"

#include <algorithm>
#include <cctype>

#include <google/protobuf/compiler/cpp/names.h>
#include <google/protobuf/wire_format.h>

#include "protobuf_release.h"

namespace harena::codegen {

namespace cpp = google::protobuf::compiler::cpp;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormat;
using google::protobuf::internal::WireFormatLite;

namespace {

// The data member of the generated class.
std::string MemberName(const FieldDescriptor& field) {
  const auto* oneof = field.real_containing_oneof();
  const std::string where = oneof == nullptr ? "" : std::string(oneof->name()) + "_.";
  return "_impl_." + where + cpp::FieldName(&field) + "_";
}

const char* PrimitiveName(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return "int32_t";
    case FieldDescriptor::CPPTYPE_INT64:
      return "int64_t";
    case FieldDescriptor::CPPTYPE_UINT32:
      return "uint32_t";
    case FieldDescriptor::CPPTYPE_UINT64:
      return "uint64_t";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "double";
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "float";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "bool";
    default:
      return "";
  }
}

// As in the names of protobuf's functions for packed fields.
const char* MethodName(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_INT32:
      return "Int32";
    case FieldDescriptor::TYPE_INT64:
      return "Int64";
    case FieldDescriptor::TYPE_UINT32:
      return "UInt32";
    case FieldDescriptor::TYPE_UINT64:
      return "UInt64";
    case FieldDescriptor::TYPE_SINT32:
      return "SInt32";
    case FieldDescriptor::TYPE_SINT64:
      return "SInt64";
    case FieldDescriptor::TYPE_FIXED32:
      return "Fixed32";
    case FieldDescriptor::TYPE_FIXED64:
      return "Fixed64";
    case FieldDescriptor::TYPE_SFIXED32:
      return "SFixed32";
    case FieldDescriptor::TYPE_SFIXED64:
      return "SFixed64";
    case FieldDescriptor::TYPE_FLOAT:
      return "Float";
    case FieldDescriptor::TYPE_DOUBLE:
      return "Double";
    case FieldDescriptor::TYPE_BOOL:
      return "Bool";
    case FieldDescriptor::TYPE_ENUM:
      return "Enum";
    default:
      return "";
  }
}

}  // namespace

bool IsClosedEnum(const FieldDescriptor& field) {
  return field.type() == FieldDescriptor::TYPE_ENUM && IsClosed(field);
}

bool HasHasbit(const FieldDescriptor& field) {
  return field.has_presence() && field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE &&
         field.real_containing_oneof() == nullptr;
}

std::string Utf8Name(const FieldDescriptor& field) {
  const bool strict = field.type() == FieldDescriptor::TYPE_STRING && MustBeUtf8(field);
  return strict ? '"' + std::string(field.full_name()) + '"' : "nullptr";
}

bool HasHarenaField(const FieldDescriptor& field) {
  return kParsesByFunction && field.is_repeated() && !field.is_map();
}

uint32_t TagOf(const FieldDescriptor& field) {
  return WireFormatLite::MakeTag(field.number(), WireFormat::WireTypeForFieldType(field.type()));
}

uint32_t PackedTagOf(const FieldDescriptor& field) {
  return WireFormatLite::MakeTag(field.number(), WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

namespace {

// The place of the field among the message's fields in the order of their numbers.
int IndexOf(const FieldDescriptor& field) {
  const auto& message = *field.containing_type();
  int index = 0;
  for (int i = 0; i < message.field_count(); ++i) {
    if (message.field(i)->number() < field.number()) ++index;
  }
  return index;
}

}  // namespace

Variables VariablesOf(const FieldDescriptor& field) {
  std::string type = "TYPE_" + std::string(field.type_name());
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  Variables variables = {
      {"name", cpp::FieldName(&field)},
      {"member", MemberName(field) + (HasHarenaField(field) ? ".stock()" : "")},
      {"number", std::to_string(field.number())},
      {"index", std::to_string(IndexOf(field))},
      {"has", std::string(kHas) + cpp::FieldName(&field) + "()"},
      {"type", "::google::protobuf::internal::WireFormatLite::" + type},
      {"utf8", Utf8Name(field)},
      {"method", MethodName(field)},
      {"primitive", PrimitiveName(field)},
      {"tag", std::to_string(TagOf(field))},
      {"packed_tag", std::to_string(PackedTagOf(field))},
  };
  if (const auto* oneof = field.real_containing_oneof())
    variables["oneof"] = std::string(oneof->name());
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    variables["message"] = cpp::QualifiedClassName(field.message_type());
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    variables["enum"] = cpp::QualifiedClassName(field.enum_type());
  }
  return variables;
}

}  // namespace harena::codegen
