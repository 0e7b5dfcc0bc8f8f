#pragma once

#include <string>

#include <google/protobuf/compiler/code_generator.h>
#include <google/protobuf/descriptor.h>

namespace harena::codegen {

/// For each .proto file with services, writes `<name>.harena.grpc.h`: one HarenaInstall() per
/// service, found by argument-dependent lookup, which binds every callback-unary method.
/// The output uses gRPC's generated classes as any user would; it needs no insertion point.
class InstallerGenerator {
 public:
  bool Generate(const google::protobuf::FileDescriptor& file,
                google::protobuf::compiler::GeneratorContext& context, std::string* error) const;
};

}  // namespace harena::codegen
