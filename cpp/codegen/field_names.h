// What the C++ generator calls a field's parts, as variables for a Printer.
#pragma once

#include <map>
#include <string>

#include <google/protobuf/descriptor.h>

namespace harena::codegen {

using Variables = std::map<std::string, std::string>;

/// name, member, number, index (by number), has (tells of a field with presence), type (of the
/// wire, "TYPE_INT32"), utf8 (the quoted full name or "nullptr"), oneof; for messages `message`,
/// for enums `enum`.
Variables VariablesOf(const google::protobuf::FieldDescriptor& field);

/// Whether the class keeps a bit that tells whether the field, a scalar or a string, is there.
bool HasHasbit(const google::protobuf::FieldDescriptor& field);

/// Whether it is a repeated field whose place in the class is of a type of ours (codec/repeated.h).
bool HasHarenaField(const google::protobuf::FieldDescriptor& field);

/// Whether values outside of the enum are unknown fields rather than values.
bool IsClosedEnum(const google::protobuf::FieldDescriptor& field);

/// "nullptr", or the name to report when a value of `field` is not UTF-8.
std::string Utf8Name(const google::protobuf::FieldDescriptor& field);

uint32_t TagOf(const google::protobuf::FieldDescriptor& field);
uint32_t PackedTagOf(const google::protobuf::FieldDescriptor& field);

}  // namespace harena::codegen
