// What differs between the protobuf releases that the plugin can be built against. The only file of
// the plugin with such cases.
#pragma once

#include <string>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/stubs/common.h>

namespace harena::codegen {

/// What the codec can take over in the classes that this release's protoc writes. The headers of
/// harena::pb decide the same for the code that includes them (pb/layout/support.h): generated code
/// asks for HARENA_CODEC, or HARENA_SERIALIZER where there is no parser.
inline constexpr bool kTakesParser =
    GOOGLE_PROTOBUF_VERSION >= 3021000 && GOOGLE_PROTOBUF_VERSION < 3022000;
inline constexpr bool kTakesSerializer =
    kTakesParser || (GOOGLE_PROTOBUF_VERSION >= 7036000 && GOOGLE_PROTOBUF_VERSION < 7037000);
inline constexpr const char* kGuard = kTakesParser ? "HARENA_CODEC" : "HARENA_SERIALIZER";

// In the generated functions that serialize, which from 26 on may be static members.
inline constexpr const char* kSelfInSerializer = kTakesParser ? "*this" : "this_";
inline constexpr const char* kSetCachedSize =
    kTakesParser ? "SetCachedSize" : "this_._impl_._cached_size_.Set";
/// In front of a field's name: the function that tells whether the field is there.
inline constexpr const char* kHas = kTakesParser ? "_internal_has_" : "has_";
inline constexpr const char* kDefaultInstance =
    kTakesParser ? "internal_default_instance()" : "&default_instance()";

/// The release, as its tag has it without the patch number: "3.21", "36".
inline std::string ReleaseName() {
  const int major = GOOGLE_PROTOBUF_VERSION / 1000000;
  const int minor = GOOGLE_PROTOBUF_VERSION / 1000 % 1000;
  // From 22 on the C++ library has a major number of its own in front.
  return major == 3 ? "3." + std::to_string(minor) : std::to_string(minor);
}

#if GOOGLE_PROTOBUF_VERSION < 4022000
inline int StartOf(const google::protobuf::Descriptor::ExtensionRange& range) {
  return range.start;
}
inline int EndOf(const google::protobuf::Descriptor::ExtensionRange& range) { return range.end; }

inline bool IsClosed(const google::protobuf::FieldDescriptor& enum_field) {
  return enum_field.file()->syntax() != google::protobuf::FileDescriptor::SYNTAX_PROTO3;
}

inline bool MustBeUtf8(const google::protobuf::FieldDescriptor& string_field) {
  return string_field.file()->syntax() == google::protobuf::FileDescriptor::SYNTAX_PROTO3;
}
#else
inline int StartOf(const google::protobuf::Descriptor::ExtensionRange& range) {
  return range.start_number();
}
inline int EndOf(const google::protobuf::Descriptor::ExtensionRange& range) {
  return range.end_number();
}

inline bool IsClosed(const google::protobuf::FieldDescriptor& enum_field) {
  return enum_field.legacy_enum_field_treated_as_closed();
}

inline bool MustBeUtf8(const google::protobuf::FieldDescriptor& string_field) {
  return string_field.requires_utf8_validation();
}
#endif

#if GOOGLE_PROTOBUF_VERSION < 7036000
inline bool IsCord(const google::protobuf::FieldDescriptor&) { return false; }
#else
inline bool IsCord(const google::protobuf::FieldDescriptor& field) {
  using google::protobuf::FieldDescriptor;
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
         field.cpp_string_type() == FieldDescriptor::CppStringType::kCord;
}
#endif

}  // namespace harena::codegen
