#pragma once

#include <string>

#include <google/protobuf/compiler/code_generator.h>

namespace harena::codegen {

/// For each .proto file with services, writes `<name>.harena.grpc.h`: one HarenaInstall() per
/// service, found by argument-dependent lookup, which binds every callback-unary method.
/// The output uses gRPC's generated classes as any user would; it needs no insertion point.
class InstallerGenerator final : public google::protobuf::compiler::CodeGenerator {
 public:
  bool Generate(const google::protobuf::FileDescriptor* file, const std::string& parameter,
                google::protobuf::compiler::GeneratorContext* context,
                std::string* error) const override;
  uint64_t GetSupportedFeatures() const override { return FEATURE_PROTO3_OPTIONAL; }
};

}  // namespace harena::codegen
