#pragma once

#include <string>

#include <google/protobuf/compiler/code_generator.h>
#include <google/protobuf/descriptor.h>

namespace harena::codegen {

/// What protoc runs: the outputs named in the parameter ("codec", "grpc", separated by commas;
/// "grpc" when there is none), for every file.
class Plugin final : public google::protobuf::compiler::CodeGenerator {
 public:
  bool Generate(const google::protobuf::FileDescriptor* file, const std::string& parameter,
                google::protobuf::compiler::GeneratorContext* context,
                std::string* error) const override;
#if GOOGLE_PROTOBUF_VERSION < 7036000
  uint64_t GetSupportedFeatures() const override { return FEATURE_PROTO3_OPTIONAL; }
#else
  uint64_t GetSupportedFeatures() const override {
    return FEATURE_PROTO3_OPTIONAL | FEATURE_SUPPORTS_EDITIONS;
  }
  google::protobuf::Edition GetMinimumEdition() const override {
    return google::protobuf::EDITION_PROTO2;
  }
  google::protobuf::Edition GetMaximumEdition() const override {
    return google::protobuf::EDITION_2024;
  }
#endif
};

}  // namespace harena::codegen
