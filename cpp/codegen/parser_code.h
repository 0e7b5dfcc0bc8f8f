#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/printer.h>

namespace harena::codegen {

/// Prints the definition of `Class::HarenaParse()`. It takes the decisions that protobuf's
/// generated parser takes, field by field; only where values are put differs.
void PrintParser(const google::protobuf::Descriptor& message, google::protobuf::io::Printer& out);

}  // namespace harena::codegen
