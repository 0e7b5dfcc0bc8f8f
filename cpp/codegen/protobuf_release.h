// What differs between the protobuf releases that the plugin can be built against. The only file of
// the plugin with such cases.
#pragma once

#include <string>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/stubs/common.h>

namespace harena::codegen {

/// What the codec can take over in the classes that this release's protoc writes. The headers of
/// harena::pb decide the same for the code that includes them (pb/layout/family.h).
inline constexpr bool kParsesByFunction =
    GOOGLE_PROTOBUF_VERSION >= 3021000 && GOOGLE_PROTOBUF_VERSION < 3022000;
/// By tables that are static members, defined in the source file.
inline constexpr bool kTablesAreMembers =
    GOOGLE_PROTOBUF_VERSION >= 5029000 && GOOGLE_PROTOBUF_VERSION < 5030000;
inline constexpr bool kParsesByTable =
    kTablesAreMembers || (GOOGLE_PROTOBUF_VERSION >= 7036000 && GOOGLE_PROTOBUF_VERSION < 7037000);
inline constexpr bool kTakesCodec = kParsesByFunction || kParsesByTable;

// In the generated functions that serialize, which from 26 on may be static members.
inline constexpr const char* kSelfInSerializer = kParsesByFunction ? "*this" : "this_";
inline constexpr const char* kSetCachedSize =
    kParsesByFunction ? "SetCachedSize" : "this_._impl_._cached_size_.Set";
/// In front of a field's name: the function that tells whether the field is there.
inline constexpr const char* kHas = kParsesByFunction ? "_internal_has_" : "has_";
inline constexpr const char* kDefaultInstance =
    kParsesByFunction ? "internal_default_instance()" : "&default_instance()";

/// The release, as its tag has it without the patch number: "3.21", "36".
inline std::string ReleaseName() {
  const int major = GOOGLE_PROTOBUF_VERSION / 1000000;
  const int minor = GOOGLE_PROTOBUF_VERSION / 1000 % 1000;
  // From 22 on the C++ library has a major number of its own in front.
  return major == 3 ? "3." + std::to_string(minor) : std::to_string(minor);
}

/// Of a Descriptor::ExtensionRange, which has members up to 23 and functions later.
template <typename Range>
int StartOf(const Range& range) {
  if constexpr (requires { range.start_number(); }) {
    return range.start_number();
  } else {
    return range.start;
  }
}
template <typename Range>
int EndOf(const Range& range) {
  if constexpr (requires { range.end_number(); }) {
    return range.end_number();
  } else {
    return range.end;
  }
}

#if GOOGLE_PROTOBUF_VERSION < 4022000
inline bool IsClosed(const google::protobuf::FieldDescriptor& enum_field) {
  return enum_field.file()->syntax() != google::protobuf::FileDescriptor::SYNTAX_PROTO3;
}

inline bool MustBeUtf8(const google::protobuf::FieldDescriptor& string_field) {
  return string_field.file()->syntax() == google::protobuf::FileDescriptor::SYNTAX_PROTO3;
}
#else
inline bool IsClosed(const google::protobuf::FieldDescriptor& enum_field) {
  return enum_field.legacy_enum_field_treated_as_closed();
}

inline bool MustBeUtf8(const google::protobuf::FieldDescriptor& string_field) {
  return string_field.requires_utf8_validation();
}
#endif

#if GOOGLE_PROTOBUF_VERSION < 5029000
inline bool IsCord(const google::protobuf::FieldDescriptor&) { return false; }
#else
inline bool IsCord(const google::protobuf::FieldDescriptor& field) {
  using google::protobuf::FieldDescriptor;
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
         field.cpp_string_type() == FieldDescriptor::CppStringType::kCord;
}
#endif

}  // namespace harena::codegen
