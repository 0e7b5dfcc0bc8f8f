#pragma once

#include <string>

#include <google/protobuf/compiler/code_generator.h>
#include <google/protobuf/descriptor.h>

namespace harena::codegen {

/// Puts a parser and a serializer into the classes that protoc's C++ generator writes in the same
/// run, at its insertion points. The user's code does not change, and neither does the class's
/// public interface.
class CodecGenerator {
 public:
  /// False with a message in `*error` that says what to change. What a file has that the codec does
  /// not do is left to protobuf and named in the generated code.
  bool Generate(const google::protobuf::FileDescriptor& file,
                google::protobuf::compiler::GeneratorContext& context, std::string* error) const;
};

/// Why messages of that type are left to protobuf's own parser and serializer; empty when they are
/// not.
std::string WhyStock(const google::protobuf::Descriptor& message);
std::string WhyStock(const google::protobuf::FileDescriptor& file);

}  // namespace harena::codegen
